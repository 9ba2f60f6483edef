-- Pauses of training threads: stretches of slow steps in which nothing was called and no thread was off its CPU.
--
-- Looked at are steps that take a fifth longer than the median, and as many as 20 usual ones to compare with: a pause
-- is three times as long as the longest stretch without a call in a usual step, and what it has beyond that counts.
-- Calls inside a region or a backward pass count, the region itself does not. Typical is Python's garbage collection.
-- Warm-up, evaluation, checkpoints and processes that launch nothing on a GPU are left out: their work looks the same.
--
-- needs: events, _switches, _rare_events, _launching_threads, _uneven_steps, _step_launches, step_work
CREATE TABLE pauses AS
WITH
    constants AS (
        SELECT
            3 AS longer, -- times the usual longest stretch
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
    ),
    -- In stretches of 34 ms, to join without sorting; what lasts longer than that begins in one and may end far behind.
    stretches AS (
        SELECT
            recording,
            pid,
            tid,
            step,
            slow,
            start_ns,
            end_ns,
            unnest(range(start_ns >> 25, (end_ns >> 25) + 1)) AS stretch
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
        SELECT
            stretches.recording,
            stretches.pid,
            stretches.tid,
            stretches.step,
            stretches.slow,
            greatest(calls.start_ns, stretches.start_ns) AS start_ns,
            calls.end_ns
        FROM calls
        JOIN threads ON threads.recording = calls.recording AND threads.pid = calls.pid AND threads.tid = calls.tid
        JOIN stretches
            ON stretches.recording = calls.recording
            AND stretches.pid = calls.pid
            AND stretches.stretch = calls.start_ns >> 25
        WHERE calls.start_ns >= stretches.start_ns AND calls.start_ns < stretches.end_ns
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
    usual AS (
        SELECT recording, pid, tid, median(gap_ns) AS gap_ns
        FROM (
            SELECT recording, pid, tid, step, max(end_ns - start_ns) AS gap_ns
            FROM gaps
            WHERE NOT slow
            GROUP BY ALL
        )
        GROUP BY ALL
    )
SELECT
    gaps.recording, -- recording
    gaps.pid, -- process
    gaps.tid, -- training thread
    gaps.step, -- number of the step
    gaps.start_ns, -- [ns] when it began
    CAST(gaps.end_ns - gaps.start_ns - usual.gap_ns AS BIGINT) AS dur_ns -- [ns] how long, beyond the usual
FROM gaps
JOIN threads ON threads.recording = gaps.recording AND threads.pid = gaps.pid AND threads.tid = gaps.tid
JOIN usual ON usual.recording = gaps.recording AND usual.pid = gaps.pid AND usual.tid = gaps.tid
CROSS JOIN constants
WHERE gaps.slow
    AND gaps.end_ns - gaps.start_ns >= greatest(constants.longer * usual.gap_ns, constants.min_ns)
ORDER BY gaps.recording, gaps.pid, gaps.tid, gaps.start_ns
