-- The threads that do the work of each process without steps: those that compute most, by samples.
--
-- Threads that begin in the same function of Python count together, as the handlers of a server or the workers of a
-- pool, of which each may live for one request only. Threads without Python, such as those of OpenMP and BLAS, and
-- processes without it, such as a compiler, count where a recording has no others. Imports do not count: they are over
-- when the work begins. Data workers, and recordings in which a thread trains, are no rows.
--
-- needs: stack_events, _stack_frames, processes, _threads, training_threads
CREATE TABLE _working_threads AS
WITH
    constants AS (
        SELECT 3 AS min_samples -- on a CPU: with fewer, no thread is known to compute most
    ),
    roots AS (
        SELECT
            id,
            arg_max(coalesce(file, '') || ' ' || coalesce(called, ''), frame) FILTER (
                NOT native AND NOT coalesce(module = 'python' AND file LIKE '%/threading.py', FALSE)
            ) AS root,
            bool_or(file LIKE '%importlib._bootstrap%') IS TRUE AS importing
        FROM _stack_frames
        GROUP BY id
    ),
    threads AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            mode(roots.root ORDER BY roots.root) AS root,
            -- The main thread of a program runs its script, and no other does.
            CASE WHEN mode(roots.root ORDER BY roots.root) LIKE '% <module>' THEN events.tid END AS main_tid,
            coalesce(sum(events.ns) FILTER (roots.importing), 0) AS import_ns,
            coalesce(sum(events.ns) FILTER (events.kind = 'sample' AND NOT roots.importing), 0) AS cpu_ns,
            count(*) FILTER (events.kind = 'sample' AND NOT roots.importing) AS samples
        FROM stack_events AS events
        JOIN roots ON roots.id = events.id
        ANTI JOIN training_threads AS trained ON trained.recording = events.recording
        ANTI JOIN (SELECT recording, pid FROM processes WHERE role = 'data worker') AS loading
            ON loading.recording = events.recording AND loading.pid = events.pid
        WHERE events.ns > 0
        GROUP BY events.recording, events.pid, events.tid
    ),
    lives AS (
        SELECT
            recording,
            pid,
            tid,
            min(first_ns) AS first_ns,
            max(last_ns) AS last_ns,
            arg_max(comm, last_ns) AS comm
        FROM _threads
        GROUP BY recording, pid, tid
    ),
    crews AS (
        SELECT
            threads.recording,
            threads.pid,
            threads.root,
            threads.main_tid,
            list(threads.tid ORDER BY threads.cpu_ns DESC, threads.tid) AS tids,
            arg_max(lives.comm, threads.cpu_ns) AS comm,
            sum(threads.cpu_ns) AS cpu_ns,
            sum(greatest(lives.last_ns - lives.first_ns - threads.import_ns, 0)) AS wall_ns,
            max(lives.last_ns) - min(lives.first_ns) AS span_ns
        FROM threads
        CROSS JOIN constants
        JOIN lives
            ON lives.recording = threads.recording
            AND lives.pid = threads.pid
            AND lives.tid = threads.tid
        GROUP BY threads.recording, threads.pid, threads.root, threads.main_tid
        HAVING sum(threads.samples) >= any_value(constants.min_samples)
    ),
    busiest AS (
        SELECT recording, pid, tids, comm, cpu_ns, wall_ns, span_ns
        FROM crews
        QUALIFY row_number() OVER (PARTITION BY recording, pid ORDER BY root IS NULL, cpu_ns DESC, tids[1]) = 1
            AND (root IS NOT NULL OR count(root) OVER (PARTITION BY recording) = 0)
    )
SELECT
    recording, -- recording
    pid, -- process
    unnest(tids) AS tid, -- thread that works
    tids[1] AS first_tid, -- the one of them that computes most
    len(tids) AS threads, -- how many there are of them
    comm, -- name of that one
    CAST(cpu_ns AS BIGINT) AS cpu_ns, -- [ns] of all of them on a CPU, without imports
    CAST(greatest(wall_ns, 1) AS BIGINT) AS wall_ns, -- [ns] the lives of all of them together, without imports
    CAST(greatest(span_ns, 1) AS BIGINT) AS span_ns -- [ns] from the first event of any of them to the last
FROM busiest
