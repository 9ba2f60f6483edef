-- Samples of GPUs, of whole ones only; of an idle GPU neither clocks nor power, which are low.
--
-- needs: events
CREATE VIEW _device_samples AS
WITH
    thresholds AS (
        SELECT 20 AS min_utilization -- [percent] of a GPU that works, whose clocks and power are compared
    ),
    samples AS (
        SELECT recording, device, name, unit, ts_ns, value
        FROM events
        WHERE kind = 'gpu_sample' AND object IS NULL
    ),
    working AS (
        SELECT recording, device, ts_ns, value >= thresholds.min_utilization AS works
        FROM samples
        CROSS JOIN thresholds
        WHERE name = 'utilization'
    )
SELECT
    samples.recording, -- recording
    samples.device, -- GPU as the driver counts them
    samples.name, -- utilization, power, clock_sm, ...
    samples.unit, -- unit of the value
    samples.ts_ns, -- [ns] when
    samples.value -- value
FROM samples
ASOF LEFT JOIN working
    ON working.recording = samples.recording
    AND working.device = samples.device
    AND working.ts_ns <= samples.ts_ns
WHERE samples.name NOT IN ('clock_sm', 'clock_mem', 'power') OR coalesce(working.works, TRUE);

-- What is usual of each GPU: the medians of its samples.
--
-- needs: _device_samples
-- digest: kept
CREATE TABLE _device_medians AS
SELECT
    recording, -- recording
    device, -- GPU as the driver counts them
    name, -- utilization, power, clock_sm, ...
    count(*) AS samples, -- samples
    median(value) AS median_value, -- median of them
    1.4826 * mad(value) AS deviation, -- median deviation from it, scaled as a standard deviation
    CASE
        WHEN name IN ('utilization', 'memory_utilization') THEN 30
        WHEN name = 'power' THEN 0.2 * median(value)
        WHEN name IN ('clock_sm', 'clock_mem') THEN 0.1 * median(value)
        WHEN name = 'temperature' THEN 10
        WHEN any_value(unit) = 'ppm' THEN 300000
        WHEN name IN ('pcie_tx', 'pcie_rx', 'nvlink_tx', 'nvlink_rx') THEN greatest(0.5 * median(value), 1e8)
    END AS matters -- difference from which on it matters; NULL where values are not compared
FROM _device_samples
GROUP BY recording, device, name;

-- GPUs that were not as they usually are, or had errors.
--
-- needs: _device_samples, _device_medians, events
-- digest: kept
CREATE TABLE _device_moments AS
WITH
    thresholds AS (
        SELECT
            10 AS min_samples, -- samples of a value
            5 AS min_deviations, -- median deviations, scaled as standard deviations
            0.1 AS max_share -- outliers among the samples
    ),
    samples AS (
        SELECT recording, device, name, unit, ts_ns, value
        FROM events
        WHERE kind = 'gpu_sample' AND object IS NULL
    ),
    moments AS (
        SELECT
            samples.recording,
            samples.device,
            samples.name,
            any_value(samples.unit) AS unit,
            count(*) AS times,
            any_value(usual.samples) AS samples,
            arg_max(samples.value, abs(samples.value - usual.median_value)) AS value,
            arg_max(samples.ts_ns, abs(samples.value - usual.median_value)) AS at_ns,
            any_value(usual.median_value) AS median_value,
            any_value(usual.deviation) AS deviation
        FROM _device_samples AS samples
        JOIN _device_medians AS usual
            ON usual.recording = samples.recording
            AND usual.device = samples.device
            AND usual.name = samples.name
        CROSS JOIN thresholds
        WHERE usual.samples >= thresholds.min_samples
            AND abs(samples.value - usual.median_value)
                >= greatest(thresholds.min_deviations * usual.deviation, usual.matters)
        GROUP BY ALL
    ),
    limits AS (
        SELECT
            recording,
            device,
            count(*) AS samples,
            count(CASE WHEN value & 232 <> 0 THEN 1 END) AS times,
            arg_max(value, ts_ns) FILTER (WHERE value & 232 <> 0) AS value,
            min(ts_ns) FILTER (WHERE value & 232 <> 0) AS at_ns,
            bit_or(value & 232) AS bits
        FROM samples
        WHERE name = 'throttle'
        GROUP BY ALL
    ),
    odd AS (
        SELECT
            recording,
            device,
            'moment' AS what,
            name,
            unit,
            value,
            at_ns,
            median_value,
            deviation,
            times,
            samples,
            format('{} where {:.0f} is usual', value, median_value) AS reason
        FROM moments
        CROSS JOIN thresholds
        WHERE times <= thresholds.max_share * samples
        UNION ALL
        SELECT
            recording,
            device,
            'throttled',
            'throttle',
            'bits',
            value,
            at_ns,
            0,
            0,
            times,
            samples,
            concat_ws(', ',
                CASE WHEN bits & 8 <> 0 THEN 'hardware slowdown' END,
                CASE WHEN bits & 32 <> 0 THEN 'software thermal limit' END,
                CASE WHEN bits & 64 <> 0 THEN 'hardware thermal limit' END,
                CASE WHEN bits & 128 <> 0 THEN 'power brake' END)
        FROM limits
        WHERE times > 0
        UNION ALL
        SELECT
            recording,
            device,
            'error',
            name,
            any_value(unit),
            arg_max(value, ts_ns),
            max(ts_ns),
            0,
            0,
            count(*),
            count(*),
            CASE name
                WHEN 'xid' THEN format('Xid {}', arg_max(value, ts_ns))
                ELSE format('{} uncorrected memory errors more', max(value) - min(value))
            END
        FROM samples
        WHERE name IN ('xid', 'ecc_errors')
        GROUP BY recording, device, name
        HAVING name = 'xid' OR max(value) > min(value)
    )
SELECT
    recording, -- recording
    device, -- GPU as the driver counts them
    what, -- moment, throttled or error
    name, -- utilization, power, clock_sm, ...
    unit, -- unit of the values
    value, -- the value farthest from the usual one; of throttle its bits
    at_ns, -- [ns] when; NULL for all the time
    median_value, -- usual: the device's median, or the median of the others
    deviation, -- median deviation from it, scaled as a standard deviation
    times, -- samples that are outliers
    samples, -- samples
    reason -- in words
FROM odd;

-- GPUs that were not as usual for a while, or not as the others are, as the driver saw them.
--
-- *moment*: samples that differ from the device's median by five median deviations (scaled as standard deviations) and
-- by what matters for such a value: 30 points of utilization or a hardware counter, a fifth of the power, a tenth of a
-- clock, 10 C, half of the PCIe or NVLink traffic; at most a tenth of the samples. *device*: the median of the device
-- differs likewise from those of at least two others of its model, on any machine. *throttled*: the driver slowed the
-- clocks down for heat or power supply. *error*: an Xid, or uncorrected memory errors that became more. Not of MIG
-- instances.
--
-- needs: _device_medians, _device_moments, gpus, files
CREATE TABLE device_outliers AS
WITH
    thresholds AS (
        SELECT
            5 AS min_deviations, -- median deviations, scaled as standard deviations
            3 AS min_devices, -- to compare one with the others
            5 AS min_fleet_samples -- of each, for that
    ),
    alike AS (
        SELECT usual.*, files.side, gpus.name AS model
        FROM _device_medians AS usual
        JOIN files ON files.recording = usual.recording
        LEFT JOIN gpus ON gpus.recording = usual.recording AND gpus.device = usual.device
        WHERE usual.matters IS NOT NULL
    ),
    spreads AS (
        SELECT side, model, name, 1.4826 * mad(median_value) AS deviation
        FROM alike
        GROUP BY side, model, name
    ),
    fleets AS (
        SELECT
            alike.recording,
            alike.device,
            alike.name,
            alike.samples,
            alike.median_value AS value,
            alike.matters,
            count(*) OVER others AS others,
            median(alike.median_value) OVER others AS median_value,
            spreads.deviation
        FROM alike
        JOIN spreads
            ON spreads.side = alike.side
            AND spreads.model IS NOT DISTINCT FROM alike.model
            AND spreads.name = alike.name
        WINDOW others AS (
            PARTITION BY alike.side, alike.model, alike.name
            ORDER BY alike.recording, alike.device
            ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW
        )
    ),
    odd AS (
        SELECT recording, device, what, name, unit, value, at_ns, median_value, deviation, times, samples, reason
        FROM _device_moments
        UNION ALL
        SELECT
            recording,
            device,
            'device',
            name,
            NULL,
            CAST(value AS BIGINT),
            NULL,
            median_value,
            deviation,
            samples,
            samples,
            format('its median is {:.0f}, that of the others {:.0f}', value, median_value)
        FROM fleets
        CROSS JOIN thresholds
        WHERE others >= thresholds.min_devices - 1
            AND samples >= thresholds.min_fleet_samples
            AND abs(value - median_value) >= greatest(thresholds.min_deviations * deviation, matters)
    )
SELECT
    recording, -- recording
    device, -- GPU as the driver counts them
    what, -- moment, device, throttled or error
    name, -- utilization, power, clock_sm, ...
    unit, -- unit of the values
    value, -- the value farthest from the usual one; of throttle its bits
    at_ns, -- [ns] when; NULL for all the time
    median_value, -- usual: the device's median, or the median of the others
    deviation, -- median deviation from it, scaled as a standard deviation
    times, -- samples that are outliers
    samples, -- samples
    reason -- in words
FROM odd
ORDER BY recording, device, what, name
