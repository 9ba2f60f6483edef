-- The mean step of each training thread, and what it consists of.
--
-- The parts add up to the step. Only steps of kind *train* count: no warm-up, evaluation or checkpoint.
--
-- needs: steps
CREATE VIEW step_mean AS
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    count(*) AS steps, -- steps of kind train
    avg(dur_ns) AS step_ns, -- [ns] mean wall time of a step
    avg(data_loading_ns) AS data_loading_ns, -- [ns] of it waiting for data
    avg(gpu_compute_ns) AS gpu_compute_ns, -- [ns] of it in compute and waits for the GPU
    avg(nccl_collective_ns) AS nccl_collective_ns, -- [ns] of it in NCCL calls and waits for collectives
    avg(optimizer_step_ns) AS optimizer_step_ns, -- [ns] of it in the optimizer
    avg(unknown_ns) AS unknown_ns -- [ns] of it in anything else
FROM steps
WHERE step_kind = 'train'
GROUP BY recording, pid, tid
ORDER BY recording, pid, tid
