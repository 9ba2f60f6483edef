-- Steps of each training thread, and where the time of each went.
--
-- A step ends when `Optimizer.step` returns; it begins where the one before ended, the first one at the thread's first
-- call. Optimizer steps with no new batch between them (several optimizers, nested ones) are one step. A thread without
-- an optimizer gets one step per batch, from `__next__` to `__next__`. Threads with neither have no steps.
--
-- needs: _intervals, _segments
CREATE TABLE steps AS
WITH
    markers AS (
        SELECT
            recording,
            pid,
            tid,
            start_ns,
            end_ns,
            part,
            lead(part) OVER (PARTITION BY recording, pid, tid ORDER BY end_ns) AS next_part,
            lead(start_ns) OVER (PARTITION BY recording, pid, tid ORDER BY end_ns) AS next_start_ns,
            bool_or(part = 'optimizer_step') OVER (PARTITION BY recording, pid, tid) AS has_optimizer,
            bool_or(part = 'data_wait') OVER (PARTITION BY recording, pid, tid) AS has_loader
        FROM _intervals
        WHERE part IN ('data_wait', 'optimizer_step')
    ),
    threads AS (
        SELECT recording, pid, tid, min(start_ns) AS first_ns
        FROM _intervals
        GROUP BY ALL
    ),
    boundaries AS (
        SELECT
            markers.recording,
            markers.pid,
            markers.tid,
            CASE
                WHEN markers.has_optimizer THEN coalesce(
                    lag(markers.end_ns) OVER (
                        PARTITION BY markers.recording, markers.pid, markers.tid
                        ORDER BY markers.end_ns
                    ),
                    threads.first_ns
                )
                ELSE markers.start_ns
            END AS start_ns,
            CASE WHEN markers.has_optimizer THEN markers.end_ns ELSE markers.next_start_ns END AS end_ns,
            CASE WHEN markers.has_optimizer THEN 'Optimizer.step' ELSE 'DataLoader' END AS source
        FROM markers
        JOIN threads
            ON threads.recording = markers.recording
            AND threads.pid = markers.pid
            AND threads.tid = markers.tid
        WHERE CASE
                WHEN markers.has_optimizer
                    THEN markers.part = 'optimizer_step'
                        AND (NOT markers.has_loader OR coalesce(markers.next_part, 'data_wait') = 'data_wait')
                        AND coalesce(markers.next_start_ns >= markers.end_ns, TRUE)
                ELSE markers.next_start_ns IS NOT NULL
            END
    ),
    sums AS (
        SELECT
            boundaries.recording,
            boundaries.pid,
            boundaries.tid,
            boundaries.start_ns,
            any_value(boundaries.end_ns) AS end_ns,
            any_value(boundaries.source) AS source,
            sum(CASE WHEN phase = 'DataLoading' THEN dur_ns ELSE 0 END) AS data_loading_ns,
            sum(CASE WHEN phase = 'GpuCompute' THEN dur_ns ELSE 0 END) AS gpu_compute_ns,
            sum(CASE WHEN phase = 'NcclCollective' THEN dur_ns ELSE 0 END) AS nccl_collective_ns,
            sum(CASE WHEN phase = 'OptimizerStep' THEN dur_ns ELSE 0 END) AS optimizer_step_ns,
            sum(CASE WHEN phase = 'Unknown' THEN dur_ns ELSE 0 END) AS unknown_ns,
            count(CASE WHEN part = 'data_wait' THEN 1 END) AS batches
        FROM _segments
        ASOF JOIN boundaries
            ON boundaries.recording = _segments.recording
            AND boundaries.pid = _segments.pid
            AND boundaries.tid = _segments.tid
            AND boundaries.start_ns <= _segments.start_ns
        WHERE _segments.start_ns < boundaries.end_ns
        GROUP BY boundaries.recording, boundaries.pid, boundaries.tid, boundaries.start_ns
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    row_number() OVER (PARTITION BY recording, pid, tid ORDER BY start_ns) AS step, -- number of the step, from 1
    start_ns, -- [ns] when it began
    end_ns, -- [ns] when it ended
    end_ns - start_ns AS dur_ns, -- [ns] wall time
    CAST(data_loading_ns AS BIGINT) AS data_loading_ns, -- [ns] of it waiting for data
    CAST(gpu_compute_ns AS BIGINT) AS gpu_compute_ns, -- [ns] of it in compute and waits for the GPU
    CAST(nccl_collective_ns AS BIGINT) AS nccl_collective_ns, -- [ns] of it in NCCL calls and waits for collectives
    CAST(optimizer_step_ns AS BIGINT) AS optimizer_step_ns, -- [ns] of it in the optimizer
    CAST(unknown_ns AS BIGINT) AS unknown_ns, -- [ns] of it in anything else
    batches, -- batches fetched in it
    source -- what the boundary is: Optimizer.step or DataLoader
FROM sums
ORDER BY recording, pid, tid, start_ns
