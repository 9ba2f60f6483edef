-- GPUs as the driver saw them: each sampled value with its range.
--
-- Utilization is the share of time in which at least one kernel ran, which says nothing of how full the GPU was.
-- Hardware counters (`sm_active`, ...; Hopper and newer) do; they are shares in ppm, each the mean of its interval, and
-- `gpu_counters` has them while training. Devices are numbered as the driver does, not as a process with
-- CUDA_VISIBLE_DEVICES does.
--
-- needs: events
-- digest: kept
CREATE TABLE gpu_usage AS
SELECT
    recording, -- recording
    device, -- GPU as the driver counts them
    object AS instance, -- id of the MIG instance that they are of; NULL for the whole GPU
    name, -- utilization, memory_used, power, ...
    unit, -- unit of the values
    count(*) AS samples, -- samples
    min(value) AS min_value, -- lowest
    avg(value) AS mean_value, -- mean
    CAST(quantile_disc(value, 0.5) AS BIGINT) AS p50_value, -- median
    max(value) AS max_value, -- highest
    arg_max(value, ts_ns) AS last_value -- latest
FROM events
WHERE kind = 'gpu_sample'
GROUP BY recording, device, object, name, unit
ORDER BY recording, device, instance NULLS FIRST, name
