-- Training threads that were ready to run and had no CPU, and who had it.
--
-- Threads that launch kernels for a training thread, such as backward's, count with it. Counted is the time of its
-- steps after warm-up, without evaluation; of a thread without steps, the time between its first recorded call and its
-- last. Recordings say who had the CPU until the thread got it; in those made before that, it is the recorded thread
-- that last left it meanwhile, or unknown. A process that is neither training nor a data worker is another program,
-- recorded or not; what the training started itself is told apart. Nobody has the CPU where a limit of the container
-- forbids to run, or a CPU is woken first.
--
-- needs: _switches, _launching_threads, training_threads, steps, processes, recordings, _evaluations
-- needs: _started_programs, stack_events
CREATE TABLE preemption AS
WITH
    threads AS (
        SELECT recording, pid, tid, tid AS training_tid
        FROM training_threads
        UNION
        SELECT launching.recording, launching.pid, launching.tid, threads.tid AS training_tid
        FROM _launching_threads AS launching
        JOIN training_threads AS threads
            ON threads.recording = launching.recording
            AND threads.pid = launching.pid
            AND threads.tid <> launching.tid
    ),
    trained AS (
        SELECT
            recording,
            pid,
            tid,
            count(*) AS steps,
            min(start_ns) AS start_ns,
            max(end_ns) AS end_ns,
            sum(evaluation_ns) AS evaluation_ns
        FROM steps
        WHERE step_kind <> 'warmup'
        GROUP BY ALL
    ),
    watched AS (
        SELECT
            threads.recording,
            threads.pid,
            threads.tid,
            coalesce(trained.start_ns, threads.first_ns) AS start_ns,
            coalesce(trained.end_ns, threads.last_ns) AS end_ns,
            coalesce(trained.end_ns - trained.start_ns - trained.evaluation_ns, threads.wall_ns) AS wall_ns,
            coalesce(trained.steps, threads.steps) AS steps
        FROM training_threads AS threads
        LEFT JOIN trained
            ON trained.recording = threads.recording
            AND trained.pid = threads.pid
            AND trained.tid = threads.tid
    ),
    telling AS (
        SELECT recording
        FROM _switches
        GROUP BY recording
        HAVING count(other_pid) > 0
    ),
    spans AS (
        SELECT
            switches.recording,
            switches.pid,
            switches.tid,
            threads.training_tid,
            switches.ts_ns,
            switches.ts_ns + coalesce(switches.dur_ns, switches.runq_ns) AS end_ns,
            switches.runq_ns,
            switches.preempted,
            switches.other_pid,
            switches.other_comm,
            telling.recording IS NOT NULL AS told,
            switches.cpu
        FROM _switches AS switches
        JOIN threads
            ON threads.recording = switches.recording
            AND threads.pid = switches.pid
            AND threads.tid = switches.tid
        LEFT JOIN telling ON telling.recording = switches.recording
        WHERE switches.runq_ns > 0
    ),
    disturbed AS (
        SELECT
            spans.recording,
            spans.pid,
            spans.training_tid,
            spans.ts_ns,
            spans.runq_ns,
            spans.preempted,
            spans.told,
            spans.other_comm AS by_comm,
            CASE
                WHEN spans.told THEN spans.other_pid
                -- The latest to leave this CPU may be the thread that waits, itself.
                WHEN switches.ts_ns >= spans.end_ns - spans.runq_ns
                    AND NOT (switches.tid = spans.tid AND switches.ts_ns = spans.ts_ns)
                    THEN switches.pid
            END AS by_pid
        FROM spans
        ASOF LEFT JOIN _switches AS switches
            ON switches.recording = spans.recording
            AND switches.cpu = spans.cpu
            AND switches.ts_ns < spans.end_ns
    ),
    held AS (
        SELECT
            disturbed.recording,
            disturbed.pid,
            disturbed.training_tid,
            disturbed.by_pid,
            mode(coalesce(others.comm, disturbed.by_comm) ORDER BY coalesce(others.comm, disturbed.by_comm)) AS by_comm,
            CASE
                WHEN disturbed.by_pid IS NULL THEN CASE WHEN disturbed.told THEN 'nobody' ELSE 'unknown' END
                WHEN disturbed.by_pid = disturbed.pid THEN 'threads'
                WHEN disturbed.by_pid = any_value(recordings.recorder_pid) THEN 'recorder'
                WHEN any_value(others.role) = 'data worker' THEN 'workers'
                WHEN any_value(others.role) IN ('training', 'inference') THEN 'ranks'
                WHEN any_value(started.training_pid) IS NOT NULL THEN 'started'
                ELSE 'others'
            END AS holder,
            count(*) AS spans,
            count(CASE WHEN disturbed.preempted THEN 1 END) AS preempted,
            sum(disturbed.runq_ns) AS runq_ns,
            max(disturbed.runq_ns) AS max_ns
        FROM disturbed
        JOIN watched
            ON watched.recording = disturbed.recording
            AND watched.pid = disturbed.pid
            AND watched.tid = disturbed.training_tid
        JOIN recordings ON recordings.recording = disturbed.recording
        LEFT JOIN processes AS others
            ON others.recording = disturbed.recording
            AND others.pid = disturbed.by_pid
        LEFT JOIN _started_programs AS started
            ON started.recording = disturbed.recording
            AND started.pid = disturbed.by_pid
        ASOF LEFT JOIN _evaluations AS evaluations
            ON evaluations.recording = disturbed.recording
            AND evaluations.pid = disturbed.pid
            AND evaluations.tid = disturbed.training_tid
            AND evaluations.start_ns <= disturbed.ts_ns
        WHERE disturbed.ts_ns >= watched.start_ns
            AND disturbed.ts_ns < watched.end_ns
            AND coalesce(disturbed.ts_ns >= evaluations.end_ns, TRUE)
        GROUP BY disturbed.recording, disturbed.pid, disturbed.training_tid, disturbed.by_pid, disturbed.told
    ),
    holders AS (
        SELECT
            recording,
            pid,
            training_tid,
            holder,
            sum(runq_ns) AS runq_ns,
            arg_max(by_pid, runq_ns) AS top_pid,
            arg_max_null(by_comm, runq_ns) AS top_comm,
            max(runq_ns) AS top_ns
        FROM held
        GROUP BY ALL
    ),
    running AS (
        SELECT recording, pid, tid, sum(ns) AS cpu_ns
        FROM stack_events
        WHERE kind = 'sample'
        GROUP BY recording, pid, tid
    ),
    short AS (
        SELECT
            switches.recording,
            switches.pid,
            switches.tid,
            sum(switches.runq_ns) AS runq_ns,
            max(sum(CASE WHEN threads.tid IS NOT NULL THEN switches.runq_ns END)) OVER (
                PARTITION BY switches.recording, switches.pid
            ) AS own_ns,
            any_value(threads.tid) IS NOT NULL AS trains
        FROM _switches AS switches
        LEFT JOIN threads
            ON threads.recording = switches.recording
            AND threads.pid = switches.pid
            AND threads.tid = switches.tid
        WHERE switches.runq_ns > 0
        GROUP BY switches.recording, switches.pid, switches.tid
    ),
    -- Other threads of the process that are as short of CPUs as the training thread, and compute as much as each other.
    crowds AS (
        SELECT recording, pid, count(*) AS threads
        FROM (
            SELECT
                short.recording,
                short.pid,
                running.cpu_ns,
                max(running.cpu_ns) OVER (PARTITION BY short.recording, short.pid) AS most_ns
            FROM short
            LEFT JOIN running
                ON running.recording = short.recording
                AND running.pid = short.pid
                AND running.tid = short.tid
            WHERE NOT short.trains AND short.runq_ns >= 0.1 * short.own_ns
        )
        WHERE most_ns IS NULL OR cpu_ns >= 0.1 * most_ns
        GROUP BY recording, pid
    ),
    -- Processes of one name count together: a build is many that live for a second.
    strangers AS (
        SELECT
            recording,
            pid,
            training_tid,
            by_comm,
            holder = 'started' AS started,
            arg_max(by_pid, runq_ns) AS by_pid,
            count(*) AS pids,
            sum(runq_ns) AS runq_ns
        FROM held
        WHERE holder IN ('others', 'started')
        GROUP BY ALL
    ),
    neighbours AS (
        SELECT
            recording,
            pid,
            training_tid,
            arg_max_null(by_comm, runq_ns) AS comm,
            arg_max(by_pid, runq_ns) AS by_pid,
            arg_max(pids, runq_ns) AS pids,
            arg_max(started, runq_ns) AS started,
            max(runq_ns) AS runq_ns
        FROM strangers
        GROUP BY ALL
    ),
    most AS (
        SELECT
            recording,
            pid,
            training_tid,
            arg_max(one, if(one.holder = 'recorder', 0, one.runq_ns)) AS first,
            arg_max(one, if(one.holder IN ('recorder', 'threads'), 0, one.runq_ns)) AS beside
        FROM (
            SELECT recording, pid, training_tid, holders AS one
            FROM holders
        )
        GROUP BY ALL
    )
SELECT
    held.recording, -- recording
    held.pid, -- process
    held.training_tid AS tid, -- training thread
    CAST(sum(held.spans) AS BIGINT) AS spans, -- times that it waited for a CPU
    CAST(sum(held.preempted) AS BIGINT) AS preempted, -- times that another thread took its CPU
    CAST(sum(held.runq_ns) AS BIGINT) AS runq_ns, -- [ns] ready to run, without a CPU
    max(held.max_ns) AS max_ns, -- [ns] longest of them
    CAST(any_value(watched.wall_ns) AS BIGINT) AS wall_ns, -- [ns] time that was looked at
    any_value(watched.steps) AS steps, -- steps in it
    sum(held.runq_ns) / any_value(watched.wall_ns) AS share, -- share of that time, 0 to 1
    sum(held.runq_ns) / nullif(any_value(watched.steps), 0) AS per_step_ns, -- [ns] per step
    CAST(coalesce(sum(CASE WHEN held.holder IN ('others', 'started') THEN held.runq_ns END), 0) AS BIGINT)
        AS others_ns, -- [ns] of it, while a process that is no part of the training had the CPU
    any_value(neighbours.comm) AS other_comm, -- name of those of these that had it longest
    any_value(neighbours.by_pid) AS other_pid, -- the one of that name that had it longest
    any_value(neighbours.pids) AS other_pids, -- how many there are of that name
    CAST(coalesce(any_value(neighbours.runq_ns), 0) AS BIGINT) AS other_ns, -- [ns] how long these had it
    coalesce(any_value(neighbours.started), FALSE) AS other_started, -- whether the training started these itself
    CAST(coalesce(sum(CASE WHEN held.holder = 'threads' THEN held.runq_ns END), 0) AS BIGINT)
        AS threads_ns, -- [ns] in which other threads of its own process had it
    CAST(coalesce(any_value(crowds.threads), 0) AS BIGINT)
        AS crowd, -- other threads of the process that were short of CPUs, too, and used them
    any_value(most.first.holder)
        AS holder, -- who had it most: threads (own), workers, ranks, started, others, nobody or unknown; or recorder
    CAST(any_value(most.first.runq_ns) AS BIGINT) AS holder_ns, -- [ns] of it, in which these had it
    any_value(most.first.top_pid) AS top_pid, -- the process of these that had it longest
    any_value(most.first.top_comm) AS top_comm, -- its name
    CAST(coalesce(any_value(most.first.top_ns), 0) AS BIGINT) AS top_ns, -- [ns] how long
    any_value(most.beside.holder) AS beside_holder, -- the same without its own threads: workers, ranks, started, ...
    CAST(any_value(most.beside.runq_ns) AS BIGINT) AS beside_holder_ns, -- [ns] of it, in which these had it
    any_value(most.beside.top_pid) AS beside_top_pid, -- the process of these that had it longest
    any_value(most.beside.top_comm) AS beside_top_comm, -- its name
    CAST(coalesce(any_value(most.beside.top_ns), 0) AS BIGINT) AS beside_top_ns, -- [ns] how long
    CAST(coalesce(sum(CASE WHEN held.holder = 'workers' THEN held.runq_ns END), 0) AS BIGINT)
        AS workers_ns, -- [ns] of it, in which data workers had it
    CAST(coalesce(sum(CASE WHEN held.holder = 'recorder' THEN held.runq_ns END), 0) AS BIGINT)
        AS recorder_ns, -- [ns] in which the recorder had it, which is a cost of recording
    CAST(coalesce(sum(CASE WHEN held.holder = 'nobody' THEN held.runq_ns END), 0) AS BIGINT)
        AS nobody_ns -- [ns] in which nobody had it
FROM held
JOIN watched
    ON watched.recording = held.recording
    AND watched.pid = held.pid
    AND watched.tid = held.training_tid
JOIN most
    ON most.recording = held.recording
    AND most.pid = held.pid
    AND most.training_tid = held.training_tid
LEFT JOIN neighbours
    ON neighbours.recording = held.recording
    AND neighbours.pid = held.pid
    AND neighbours.training_tid = held.training_tid
LEFT JOIN crowds ON crowds.recording = held.recording AND crowds.pid = held.pid
GROUP BY held.recording, held.pid, held.training_tid
ORDER BY held.recording, held.pid, held.training_tid
