-- Kernels, copies and fills by name: how long the GPU ran them, and how long after their launch they began.
--
-- Kernels of several streams run at once, so the times may add up to more than the GPU was busy.
--
-- needs: gpu_activity, gpu_time, _gpu_scopes
CREATE VIEW gpu_kernels AS
WITH
    sums AS (
        SELECT
            recording,
            pid,
            device,
            work,
            name,
            count(*) AS runs,
            sum(dur_ns) AS sum_ns,
            quantile_cont(dur_ns, [0.5, 0.99]) AS q,
            max(dur_ns) AS max_ns,
            median(start_ns - launch_ns) AS delay_ns,
            sum(bytes) AS bytes
        FROM gpu_activity
        ANTI JOIN _gpu_scopes AS scopes
            ON scopes.recording = gpu_activity.recording
            AND scopes.pid = gpu_activity.pid
            AND (gpu_activity.start_ns < scopes.start_ns OR gpu_activity.start_ns >= scopes.end_ns)
        GROUP BY ALL
    )
SELECT
    sums.recording, -- recording
    sums.pid, -- process
    sums.device, -- GPU
    sums.work, -- compute, communication or copy
    sums.name, -- kernel, or what was copied from where to where
    sums.runs, -- how often it ran
    CAST(sums.sum_ns AS BIGINT) AS sum_ns, -- [ns] GPU execution time, all runs
    sums.sum_ns / gpu_time.profiled_ns AS share, -- of the time that was profiled
    CAST(sums.q[1] AS BIGINT) AS p50_ns, -- [ns] median
    CAST(sums.q[2] AS BIGINT) AS p99_ns, -- [ns] 99th percentile
    sums.max_ns, -- [ns] longest
    CAST(sums.delay_ns AS BIGINT) AS delay_p50_ns, -- [ns] from the call of its launch to its start, median
    CAST(sums.bytes AS BIGINT) AS bytes -- [bytes] copied or filled, or sent or received by a rank
FROM sums
JOIN gpu_time
    ON gpu_time.recording = sums.recording
    AND gpu_time.pid = sums.pid
    AND gpu_time.device = sums.device
ORDER BY sums.recording, sums.pid, sums.device, sums.sum_ns DESC, sums.name
