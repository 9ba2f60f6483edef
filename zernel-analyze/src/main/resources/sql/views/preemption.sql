-- Training threads that were ready to run and had no CPU.
--
-- Threads that launch kernels for a training thread, such as backward's, count with it. Counted is the time of its
-- steps after warm-up, without evaluation; of a thread without steps, the time between its first recorded call and its
-- last. Who had the CPU is the thread that last left it meanwhile, where that was recorded; else it is another process,
-- or nobody, because a limit of the container forbids to run.
--
-- needs: _switches, _launching_threads, training_threads, steps, processes, _evaluations
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
    spans AS (
        SELECT
            switches.recording,
            switches.pid,
            threads.training_tid,
            switches.ts_ns,
            switches.ts_ns + coalesce(switches.dur_ns, switches.runq_ns) AS end_ns,
            switches.runq_ns,
            switches.preempted,
            switches.cpu
        FROM _switches AS switches
        JOIN threads
            ON threads.recording = switches.recording
            AND threads.pid = switches.pid
            AND threads.tid = switches.tid
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
            CASE WHEN switches.ts_ns >= spans.end_ns - spans.runq_ns THEN switches.pid END AS by_pid
        FROM spans
        ASOF LEFT JOIN _switches AS switches
            ON switches.recording = spans.recording
            AND switches.cpu = spans.cpu
            AND switches.ts_ns < spans.end_ns
    )
SELECT
    disturbed.recording, -- recording
    disturbed.pid, -- process
    disturbed.training_tid AS tid, -- training thread
    count(*) AS spans, -- times that it waited for a CPU
    count(CASE WHEN disturbed.preempted THEN 1 END) AS preempted, -- times that another thread took its CPU
    CAST(sum(disturbed.runq_ns) AS BIGINT) AS runq_ns, -- [ns] ready to run, without a CPU
    max(disturbed.runq_ns) AS max_ns, -- [ns] longest of them
    CAST(any_value(watched.wall_ns) AS BIGINT) AS wall_ns, -- [ns] time that was looked at
    any_value(watched.steps) AS steps, -- steps in it
    sum(disturbed.runq_ns) / any_value(watched.wall_ns) AS share, -- share of that time, 0 to 1
    sum(disturbed.runq_ns) / nullif(any_value(watched.steps), 0) AS per_step_ns, -- [ns] per step
    CAST(coalesce(sum(CASE WHEN others.role = 'other' THEN disturbed.runq_ns END), 0) AS BIGINT)
        AS others_ns, -- [ns] of it, while a recorded process that is no part of the training had the CPU
    mode(CASE WHEN others.role = 'other' THEN disturbed.by_pid END) AS other_pid -- the most frequent of these
FROM disturbed
JOIN watched
    ON watched.recording = disturbed.recording
    AND watched.pid = disturbed.pid
    AND watched.tid = disturbed.training_tid
LEFT JOIN processes AS others ON others.recording = disturbed.recording AND others.pid = disturbed.by_pid
ASOF LEFT JOIN _evaluations AS evaluations
    ON evaluations.recording = disturbed.recording
    AND evaluations.pid = disturbed.pid
    AND evaluations.tid = disturbed.training_tid
    AND evaluations.start_ns <= disturbed.ts_ns
WHERE disturbed.ts_ns >= watched.start_ns
    AND disturbed.ts_ns < watched.end_ns
    AND coalesce(disturbed.ts_ns >= evaluations.end_ns, TRUE)
GROUP BY disturbed.recording, disturbed.pid, disturbed.training_tid
ORDER BY disturbed.recording, disturbed.pid, disturbed.training_tid
