-- GPUs as the driver saw them: each sampled value with its range.
--
-- Utilization is the share of time in which at least one kernel ran, which says nothing of how full the GPU was.
-- Hardware counters (`sm_active`, ...; Hopper and newer) do; they are shares in ppm, each the mean of its interval.
-- `busy` is the same as utilization, of the samples that the driver takes by itself, five or six a second. Lowest, mean
-- and so on are of all samples, before the first step too; `trained_value` is of those while a process trained on the
-- GPU. Devices are numbered as the driver does, not as a process with CUDA_VISIBLE_DEVICES does.
--
-- needs: events, _trained_samples
-- digest: kept
CREATE TABLE gpu_usage AS
WITH
    trained AS (
        SELECT
            recording,
            device,
            instance,
            name,
            unit,
            count(*) AS samples,
            CAST(sum(CAST(value AS HUGEINT) * span_ns) AS DOUBLE) / sum(span_ns) AS mean -- exact in any order
        FROM _trained_samples
        WHERE pid IS NOT NULL
        GROUP BY ALL
    ),
    sums AS (
        SELECT
            recording,
            device,
            object AS instance,
            name,
            unit,
            count(*) AS samples,
            min(value) AS min_value,
            avg(value) AS mean_value,
            CAST(quantile_disc(value, 0.5) AS BIGINT) AS p50_value,
            max(value) AS max_value,
            arg_max(value, ts_ns) AS last_value
        FROM events
        WHERE kind = 'gpu_sample'
        GROUP BY recording, device, object, name, unit
    )
SELECT
    sums.recording, -- recording
    sums.device, -- GPU as the driver counts them
    sums.instance, -- id of the MIG instance that they are of; NULL for the whole GPU
    sums.name, -- utilization, memory_used, power, ...
    sums.unit, -- unit of the values
    sums.samples, -- samples
    sums.min_value, -- lowest
    sums.mean_value, -- mean
    sums.p50_value, -- median
    sums.max_value, -- highest
    sums.last_value, -- latest
    coalesce(trained.samples, 0) AS trained_samples, -- samples while a process trained on it, without warm-up
    trained.mean AS trained_value -- mean of those; NULL without one
FROM sums
LEFT JOIN trained
    ON trained.recording = sums.recording
    AND trained.device = sums.device
    AND trained.instance IS NOT DISTINCT FROM sums.instance
    AND trained.name = sums.name
    AND trained.unit IS NOT DISTINCT FROM sums.unit
ORDER BY sums.recording, sums.device, sums.instance NULLS FIRST, sums.name
