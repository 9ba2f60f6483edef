-- Pauses of training threads: stretches of slow steps in which nothing was called and the thread did not sleep.
--
-- They are inferred, and only in recordings without Python's garbage collector itself (see gc_runs).
-- Looked at are steps that take a fifth longer than the median, and as many as 20 usual ones to compare with: a pause
-- is three times as long as the longest stretch without a call in a usual step, and what it has beyond that counts.
-- Time in which another thread had the CPU is taken off, and does not end a pause.
-- Calls inside a region or a backward pass count, the region itself does not. Typical is Python's garbage collection.
-- Warm-up, evaluation, checkpoints and processes that launch nothing on a GPU are left out: their work looks the same.
-- So does what happens once or twice, such as the start and the end of a profiler: three steps of a thread have one.
--
-- needs: events, _switches, _rare_events, _launching_threads, _uneven_steps, _step_launches, step_work
CREATE TABLE pauses AS
WITH
    constants AS (
        SELECT
            3 AS longer, -- times the usual longest stretch
            3 AS min_steps, -- of a thread that have a pause
            2000000 AS min_ns -- [ns] and at least so long
    ),
    -- Where launches were only counted, it is not known when nothing was called.
    launching AS (
        SELECT recording, pid, any_value(tid) AS tid
        FROM step_work
        GROUP BY recording, pid
        HAVING sum(launches + graph_launches) > 0
    ),
    threads AS (
        SELECT recording, pid, tid FROM launching
        UNION
        SELECT threads.recording, threads.pid, threads.tid
        FROM _launching_threads AS threads
        JOIN launching ON launching.recording = threads.recording AND launching.pid = threads.pid
    ),
    calls AS (
        SELECT recording, pid, tid, ts_ns AS start_ns, ts_ns + coalesce(dur_ns, 0) AS end_ns
        FROM _rare_events
        WHERE kind IN ('cuda_copy', 'cuda_sync', 'gpu_alloc', 'gpu_free', 'nccl', 'nccl_comm', 'dist_wait')
            OR (kind = 'region' AND name LIKE 'enumerate(DataLoader)#%')
            OR (kind = 'cuda_graph' AND name LIKE '%GraphLaunch%')
        UNION ALL
        SELECT recording, pid, tid, ts_ns AS start_ns, ts_ns + coalesce(dur_ns, 0) AS end_ns
        FROM events
        WHERE (kind IN ('io', 'io_open', 'wait')) IS TRUE
        UNION ALL
        SELECT recording, pid, tid, ts_ns AS start_ns, ts_ns + coalesce(dur_ns, 0) AS end_ns
        FROM _switches
        WHERE NOT preempted
    ),
    placed AS (
        SELECT calls.recording, calls.pid, calls.start_ns AS at_ns, calls.end_ns
        FROM calls
        JOIN threads ON threads.recording = calls.recording AND threads.pid = calls.pid AND threads.tid = calls.tid
    ),
    spans AS (
        SELECT recording, pid, tid, step, slow, start_ns AS from_ns, end_ns AS until_ns
        FROM _uneven_steps
    ),
    launched AS (
        SELECT
            uneven.recording,
            uneven.pid,
            uneven.tid,
            uneven.step,
            uneven.slow,
            unnest(steps.calls) AS call
        FROM _uneven_steps AS uneven
        JOIN _step_launches AS steps
            ON steps.recording = uneven.recording
            AND steps.pid = uneven.pid
            AND steps.step = uneven.step
    ),
    inside AS (
        SELECT recording, pid, tid, step, slow, at_ns AS start_ns, end_ns
        FROM in_spans(placed, spans)
        UNION ALL
        SELECT recording, pid, tid, step, slow, call.start_ns, call.end_ns
        FROM launched
        UNION ALL
        SELECT recording, pid, tid, step, slow, end_ns, end_ns
        FROM _uneven_steps
        UNION ALL
        SELECT recording, pid, tid, step, slow, start_ns, start_ns
        FROM _uneven_steps
    ),
    gaps AS (
        SELECT
            recording,
            pid,
            tid,
            step,
            slow,
            max(end_ns) OVER (
                PARTITION BY recording, pid, tid, step
                ORDER BY start_ns, end_ns
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS start_ns,
            start_ns AS end_ns
        FROM inside
    ),
    long AS (
        SELECT
            gaps.recording,
            gaps.pid,
            gaps.tid,
            gaps.step,
            gaps.slow,
            gaps.start_ns AS from_ns,
            gaps.end_ns AS until_ns
        FROM gaps
        JOIN threads ON threads.recording = gaps.recording AND threads.pid = gaps.pid AND threads.tid = gaps.tid
        CROSS JOIN constants
        WHERE gaps.end_ns - gaps.start_ns >= constants.min_ns
    ),
    switched AS (
        SELECT recording, pid, tid AS switched_tid, ts_ns AS at_ns, dur_ns
        FROM _switches
        WHERE preempted AND dur_ns > 0
    ),
    preempted AS (
        SELECT recording, pid, tid, from_ns, sum(least(at_ns + dur_ns, until_ns) - at_ns) AS dur_ns
        FROM in_spans(switched, long)
        WHERE switched_tid = tid
        GROUP BY ALL
    ),
    running AS (
        SELECT
            long.recording,
            long.pid,
            long.tid,
            long.step,
            long.slow,
            long.from_ns AS start_ns,
            long.until_ns - long.from_ns - coalesce(preempted.dur_ns, 0) AS gap_ns
        FROM long
        LEFT JOIN preempted
            ON preempted.recording = long.recording
            AND preempted.pid = long.pid
            AND preempted.tid = long.tid
            AND preempted.from_ns = long.from_ns
    ),
    usual AS (
        SELECT recording, pid, tid, median(gap_ns) AS gap_ns
        FROM (
            SELECT
                gaps.recording,
                gaps.pid,
                gaps.tid,
                gaps.step,
                max(coalesce(running.gap_ns, gaps.end_ns - gaps.start_ns)) AS gap_ns
            FROM gaps
            LEFT JOIN running
                ON running.recording = gaps.recording
                AND running.pid = gaps.pid
                AND running.tid = gaps.tid
                AND running.start_ns = gaps.start_ns
            WHERE NOT gaps.slow
            GROUP BY ALL
        )
        GROUP BY ALL
    )
SELECT
    running.recording, -- recording
    running.pid, -- process
    running.tid, -- training thread
    running.step, -- number of the step
    running.start_ns, -- [ns] when it began
    CAST(running.gap_ns - usual.gap_ns AS BIGINT) AS dur_ns -- [ns] how long it ran, beyond the usual
FROM running
JOIN usual ON usual.recording = running.recording AND usual.pid = running.pid AND usual.tid = running.tid
CROSS JOIN constants
WHERE running.slow AND running.gap_ns >= greatest(constants.longer * usual.gap_ns, constants.min_ns)
QUALIFY count(DISTINCT running.step) OVER (PARTITION BY running.recording, running.pid, running.tid)
    >= constants.min_steps
ORDER BY running.recording, running.pid, running.tid, running.start_ns
