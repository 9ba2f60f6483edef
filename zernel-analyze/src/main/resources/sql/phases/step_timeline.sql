-- Steps over time with their phases: at most 400 points per training thread, for drawing.
--
-- A point is one step, or the mean of as many neighbours as it takes. The slowest of them is kept beside the mean, so
-- that no outlier disappears.
--
-- needs: steps, _purposes
CREATE VIEW step_timeline AS
WITH
    placed AS (
        SELECT
            recording,
            pid,
            tid,
            step,
            CASE
                WHEN step_kind = 'train' AND (recording, pid) IN (
                        SELECT (recording, pid)
                        FROM _purposes
                        WHERE purpose = 'inference'
                    )
                    THEN 'inference'
                ELSE step_kind
            END AS step_kind,
            start_ns,
            dur_ns,
            data_loading_ns,
            gpu_compute_ns,
            nccl_collective_ns,
            optimizer_step_ns,
            unknown_ns,
            (step - 1) * 400 // greatest(count(*) OVER (PARTITION BY recording, pid, tid), 400) AS point
        FROM steps
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    point, -- place on the timeline, from 0
    min(step) AS first_step, -- first step of the point
    count(*) AS steps, -- steps in the point
    CASE WHEN count(*) = 1 THEN min(step_kind) END AS step_kind, -- kind of the step, or inference, where it is one
    min(start_ns) AS start_ns, -- [ns] when the first of them began
    max(dur_ns) AS max_ns, -- [ns] slowest of them
    avg(data_loading_ns) AS data_loading_ns, -- [ns] mean wait for data
    avg(gpu_compute_ns) AS gpu_compute_ns, -- [ns] mean time in compute and waits for the GPU
    avg(nccl_collective_ns) AS nccl_collective_ns, -- [ns] mean time in NCCL calls and waits for collectives
    avg(optimizer_step_ns) AS optimizer_step_ns, -- [ns] mean time in the optimizer
    avg(unknown_ns) AS unknown_ns -- [ns] mean time in anything else
FROM placed
GROUP BY recording, pid, tid, point
ORDER BY recording, pid, tid, point
