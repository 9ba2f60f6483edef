-- The threads that do the work of each process without steps: those that compute most, by samples.
--
-- Threads that begin in the same function of Python count together, as the handlers of a server or the workers of a
-- pool, of which each may live for one request only. Threads without Python, such as those of OpenMP and BLAS, and
-- processes without it, such as a compiler, count where a recording has no others. A thread works from the end of the
-- imports at its start on; what it imports later does not count either, nor is it the start where functions import a
-- little again and again. It works until the interpreter ends, which frees all that there is, with no Python on the
-- stack. Data workers, and recordings in which a thread trains, are no rows.
--
-- needs: stack_events, _stack_frames, processes, _threads, training_threads
CREATE TABLE _working_threads AS
WITH
    constants AS (
        SELECT
            3 AS min_samples, -- on a CPU: with fewer, no thread is known to compute most
            0.25 AS import_share, -- of the time since its start, in stacks of imports, while a thread starts
            1000000000 AS recent_ns, -- [ns] before an import, of which imports have that share, too, while it starts
            0.5 AS end_share -- of the time after a thread's last Python, on a CPU, where the interpreter ends
    ),
    roots AS (
        SELECT
            id,
            arg_max(coalesce(file, '') || ' ' || coalesce(called, ''), frame) FILTER (
                NOT native AND NOT coalesce(module = 'python' AND file LIKE '%/threading.py', FALSE)
            ) AS root,
            bool_or(NOT native) AS python,
            bool_or(is_import(file)) IS TRUE AS importing
        FROM _stack_frames
        GROUP BY id
    ),
    stacked AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            events.start_ns,
            events.end_ns,
            events.ns,
            events.kind = 'sample' AS sampled,
            roots.root,
            roots.python,
            roots.importing
        FROM stack_events AS events
        JOIN roots ON roots.id = events.id
        ANTI JOIN training_threads AS trained ON trained.recording = events.recording
        ANTI JOIN (SELECT recording, pid FROM processes WHERE role = 'data worker') AS loading
            ON loading.recording = events.recording AND loading.pid = events.pid
        WHERE events.ns > 0
    ),
    -- A thread that only computes has few events but its samples.
    lives AS (
        SELECT
            recording,
            pid,
            tid,
            min(first_ns) AS first_ns,
            max(last_ns) AS last_ns,
            max(python_ns) AS python_ns,
            arg_max(comm, last_ns) AS comm
        FROM (
            SELECT recording, pid, tid, first_ns, last_ns, NULL AS python_ns, comm
            FROM _threads
            UNION ALL
            SELECT recording, pid, tid, min(start_ns), max(end_ns), max(end_ns) FILTER (python), NULL
            FROM stacked
            GROUP BY recording, pid, tid
        )
        GROUP BY recording, pid, tid
    ),
    ends AS (
        SELECT lives.recording, lives.pid, lives.tid, any_value(lives.python_ns) AS until_ns
        FROM stacked
        CROSS JOIN constants
        JOIN lives ON lives.recording = stacked.recording AND lives.pid = stacked.pid AND lives.tid = stacked.tid
        WHERE stacked.sampled AND stacked.end_ns > lives.python_ns
        GROUP BY lives.recording, lives.pid, lives.tid
        HAVING sum(stacked.ns) >= any_value(constants.end_share * (lives.last_ns - lives.python_ns))
    ),
    imports AS (
        SELECT
            recording,
            pid,
            tid,
            end_ns,
            sum(ns) OVER (PARTITION BY recording, pid, tid ORDER BY end_ns) AS so_far_ns,
            sum(ns) OVER (
                PARTITION BY recording, pid, tid ORDER BY end_ns
                RANGE BETWEEN constants.recent_ns PRECEDING AND CURRENT ROW
            ) AS of_late_ns
        FROM stacked
        CROSS JOIN constants
        WHERE importing
    ),
    begins AS (
        SELECT lives.recording, lives.pid, lives.tid, max(imports.end_ns) AS work_ns
        FROM imports
        CROSS JOIN constants
        JOIN lives
            ON lives.recording = imports.recording
            AND lives.pid = imports.pid
            AND lives.tid = imports.tid
        WHERE imports.so_far_ns >= constants.import_share * (imports.end_ns - lives.first_ns)
            AND imports.of_late_ns
                >= constants.import_share * least(imports.end_ns - lives.first_ns, constants.recent_ns)
        GROUP BY lives.recording, lives.pid, lives.tid
    ),
    worked AS (
        SELECT
            stacked.*,
            lives.comm,
            coalesce(ends.until_ns, lives.last_ns) AS until_ns,
            coalesce(begins.work_ns, lives.first_ns) AS work_ns
        FROM stacked
        JOIN lives ON lives.recording = stacked.recording AND lives.pid = stacked.pid AND lives.tid = stacked.tid
        LEFT JOIN begins
            ON begins.recording = stacked.recording
            AND begins.pid = stacked.pid
            AND begins.tid = stacked.tid
        LEFT JOIN ends ON ends.recording = stacked.recording AND ends.pid = stacked.pid AND ends.tid = stacked.tid
    ),
    threads AS (
        SELECT
            recording,
            pid,
            tid,
            mode(root ORDER BY root) AS root,
            -- The main thread of a program runs its script, and no other does.
            CASE WHEN mode(root ORDER BY root) LIKE '% <module>' THEN tid END AS main_tid,
            any_value(comm) AS comm,
            any_value(work_ns) AS work_ns,
            any_value(until_ns) AS until_ns,
            coalesce(sum(ns) FILTER (importing AND start_ns >= work_ns), 0) AS import_ns,
            coalesce(sum(ns) FILTER (works), 0) AS cpu_ns,
            count(*) FILTER (works) AS samples
        FROM (SELECT *, sampled AND NOT importing AND start_ns >= work_ns AND end_ns <= until_ns AS works FROM worked)
        GROUP BY recording, pid, tid
    ),
    crews AS (
        SELECT
            recording,
            pid,
            root,
            list({'tid': tid, 'work_ns': work_ns, 'until_ns': until_ns} ORDER BY cpu_ns DESC, tid) AS members,
            arg_max(comm, (cpu_ns, -tid)) AS comm,
            sum(cpu_ns) AS cpu_ns,
            sum(greatest(until_ns - work_ns - import_ns, cpu_ns)) AS wall_ns
        FROM threads
        CROSS JOIN constants
        GROUP BY recording, pid, root, main_tid
        HAVING sum(samples) >= any_value(constants.min_samples)
    ),
    busiest AS (
        SELECT recording, pid, members, comm, cpu_ns, wall_ns
        FROM crews
        QUALIFY row_number() OVER (
                PARTITION BY recording, pid ORDER BY root IS NULL, cpu_ns DESC, members[1].tid
            ) = 1
            AND (root IS NOT NULL OR count(root) OVER (PARTITION BY recording) = 0)
    ),
    each AS (
        SELECT recording, pid, members, comm, cpu_ns, wall_ns, unnest(members) AS member
        FROM busiest
    )
SELECT
    recording, -- recording
    pid, -- process
    member.tid AS tid, -- thread that works
    member.work_ns AS work_ns, -- [ns] from when on
    member.until_ns AS until_ns, -- [ns] until when
    members[1].tid AS first_tid, -- the one of them that computes most
    len(members) AS threads, -- how many there are of them
    comm, -- name of that one
    CAST(cpu_ns AS BIGINT) AS cpu_ns, -- [ns] of all of them on a CPU while they work
    CAST(greatest(wall_ns, 1) AS BIGINT) AS wall_ns -- [ns] that all of them work, together
FROM each
