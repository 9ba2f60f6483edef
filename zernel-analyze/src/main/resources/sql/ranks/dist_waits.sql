-- Time that threads spent in calls of torch.distributed that wait for its work.
--
-- With NCCL a wait usually returns at once, because it only orders streams; with gloo it takes as long as the
-- communication does. What such a call does besides is in it: DDP copies reduced gradients back in `finalize_backward`.
--
-- needs: _rare_events, _step_counts
CREATE VIEW dist_waits AS
WITH
    sums AS (
        SELECT
            recording,
            pid,
            tid,
            name,
            count(*) AS waits,
            sum(dur_ns) AS sum_ns,
            quantile_cont(dur_ns, [0.5, 0.99]) AS q,
            max(dur_ns) AS max_ns
        FROM _rare_events
        WHERE kind = 'dist_wait'
        GROUP BY ALL
    )
SELECT
    sums.recording, -- recording
    sums.pid, -- process
    sums.tid, -- thread
    sums.name, -- function
    sums.waits, -- calls
    sums.waits / counts.steps AS per_step, -- calls, divided by the steps of the process
    CAST(coalesce(sums.sum_ns, 0) AS BIGINT) AS sum_ns, -- [ns] in them
    CAST(sums.q[1] AS BIGINT) AS p50_ns, -- [ns] median
    CAST(sums.q[2] AS BIGINT) AS p99_ns, -- [ns] 99th percentile
    sums.max_ns -- [ns] longest
FROM sums
LEFT JOIN _step_counts AS counts ON counts.recording = sums.recording AND counts.pid = sums.pid
ORDER BY sums.recording, sums.pid, sums.sum_ns DESC, sums.tid, sums.name
