-- Machines of all recordings: how long the steps of their ranks take, and how late these come.
--
-- Means are of the ranks, each counting alike.
--
-- needs: rank_paces
-- dialect: common
CREATE VIEW host_paces AS
SELECT
    host, -- machine
    count(*) AS ranks, -- ranks on it
    CAST(sum(steps) AS BIGINT) AS steps, -- their steps without warm-up
    avg(step_ns) AS step_ns, -- [ns] mean step
    max(step_ns) AS longest_ns, -- [ns] that of the rank with the longest
    avg(data_loading_ns) AS data_loading_ns, -- [ns] of the mean step waiting for data
    avg(gpu_compute_ns) AS gpu_compute_ns, -- [ns] of it in compute and waits for the GPU
    avg(nccl_collective_ns) AS nccl_collective_ns, -- [ns] of it in NCCL calls and waits for collectives
    avg(optimizer_step_ns) AS optimizer_step_ns, -- [ns] of it in the optimizer
    avg(unknown_ns) AS unknown_ns, -- [ns] of it in anything else
    max(lag_ns) AS lag_ns, -- [ns] after the middle rank at collectives, of the rank that comes latest
    CAST(sum(times_last) AS BIGINT) AS times_last -- collectives to which one of its ranks came last of all
FROM rank_paces
GROUP BY host
ORDER BY lag_ns DESC NULLS LAST, host
