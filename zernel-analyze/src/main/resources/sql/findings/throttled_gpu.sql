-- A GPU is slowed down. Its driver lowers the clocks for heat or power supply, or one runs slower than the others.
--
-- Counted are samples in which the driver gives a hardware, thermal or power-brake reason; that the power limit is
-- reached is usual under full load and is not counted. What it costs per step is not known from here; the bound is that
-- of the clock.
-- Does not apply to idle GPUs, whose clocks are low because nothing runs.
--
-- needs: device_outliers, gpu_usage, files
-- severity: high when throttled half of the time, else medium
-- hint: the view device_outliers lists what of a GPU is not as usual
WITH
    thresholds AS (
        SELECT
            0.05 AS min_share, -- samples in which the driver slowed it down
            10 AS min_samples, -- samples
            20 AS min_utilization -- [percent] median, so that it is not idle
    ),
    busy AS (
        SELECT recording, device
        FROM gpu_usage
        CROSS JOIN thresholds
        WHERE name = 'utilization' AND p50_value >= thresholds.min_utilization
    ),
    clocks AS (
        SELECT recording, device, p50_value AS clock, max_value AS highest
        FROM gpu_usage
        WHERE name = 'clock_sm'
    ),
    slowed AS (
        SELECT
            odd.recording,
            odd.device,
            odd.times / odd.samples AS share,
            format('the driver gave a reason in {} of {} samples: {}', odd.times, odd.samples, odd.reason) AS why,
            clocks.clock,
            clocks.highest AS reachable
        FROM device_outliers AS odd
        LEFT JOIN clocks ON clocks.recording = odd.recording AND clocks.device = odd.device
        CROSS JOIN thresholds
        WHERE odd.what = 'throttled'
            AND odd.samples >= thresholds.min_samples
            AND odd.times >= thresholds.min_share * odd.samples
        UNION ALL
        SELECT
            recording,
            device,
            1,
            format('its clock is {} MHz, that of the others {:.0f} MHz (medians)', value, median_value),
            value,
            CAST(median_value AS BIGINT)
        FROM device_outliers
        WHERE what = 'device' AND name = 'clock_sm' AND value < median_value
    ),
    worst AS (
        SELECT
            slowed.recording,
            slowed.device,
            max(slowed.share) AS share,
            string_agg(slowed.why, '; ' ORDER BY slowed.why) AS why,
            any_value(slowed.clock) AS clock,
            max(slowed.reachable) AS reachable
        FROM slowed
        JOIN busy ON busy.recording = slowed.recording AND busy.device = slowed.device
        GROUP BY ALL
    )
SELECT
    recording, -- recording
    recording_label(recording)
        || format('GPU {}', device) AS subject, -- the GPU, as the driver counts them
    round(100 * share, 1) AS value, -- share of the samples
    '% of samples' AS unit, -- unit of value
    CASE WHEN share >= 0.5 THEN 'high' ELSE 'medium' END AS severity, -- high, medium or low
    round(reachable / greatest(clock, 1), 2) AS max_speedup, -- bound at the highest clock seen
    why || coalesce(format('; {} MHz / {} MHz = {:.2f}x', reachable, clock, reachable / greatest(clock, 1)), '')
        AS evidence, -- what it rests on
    'look at cooling, fans and power supply of this GPU: nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER'
        AS advice, -- what to try
    'zernel-analyze sql {} "FROM device_outliers"' AS next_command -- to see more
FROM worst
