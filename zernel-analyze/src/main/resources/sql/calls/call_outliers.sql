-- How often calls took how long: one pass over all calls into buckets that are an eighth of a factor e wide.
--
-- Medians and deviations come from the buckets within 7 %, in memory that does not grow with the recording. Waits of
-- the operating system are left out: that they are long says nothing.
--
-- needs: events
CREATE TABLE _duration_buckets AS
SELECT
    recording, -- recording
    pid, -- process
    kind, -- kind of event
    name, -- function or region
    CAST(floor(ln(dur_ns) * 8) AS BIGINT) AS bucket, -- durations from exp(bucket / 8) ns
    count(*) AS calls, -- calls
    CAST(sum(dur_ns) AS BIGINT) AS sum_ns, -- [ns] of all
    max(dur_ns) AS longest_ns, -- [ns] the longest
    arg_max(ts_ns, dur_ns) AS longest_at_ns -- [ns] when that began
FROM events
WHERE dur_ns > 0
    AND coalesce(depth, 0) = 0
    AND kind NOT IN ('wait', 'sched', 'gpu_sample', 'gpu_process', 'host_sample', 'mark', 'lost', 'process')
    AND NOT (kind IN ('cuda_launch', 'torch_alloc', 'torch_free') AND count IS NOT NULL)
GROUP BY ALL;

-- Single calls that took much longer than others of their name in the same process.
--
-- Durations are compared by their logarithm: an outlier is six median deviations (scaled as standard deviations) over
-- the median and at least three times as long. Names count that have 20 calls and at most a twentieth of outliers,
-- which together cost a thousandth of the process's time, or of the part of it in which such calls were recorded.
--
-- needs: _duration_buckets, _progress, _detail_shares
CREATE VIEW call_outliers AS
WITH
    thresholds AS (
        SELECT
            20 AS min_calls, -- calls of the name
            6 AS min_deviations, -- median deviations over the median, of logarithms, scaled as standard deviations
            0.05 AS max_share, -- outliers among the calls of the name
            0.001 AS min_cost -- time of all outliers over the median, as a share of the process's time
    ),
    counted AS (
        SELECT
            recording,
            pid,
            kind,
            name,
            bucket,
            calls,
            sum_ns,
            longest_ns,
            longest_at_ns,
            sum(calls) OVER (PARTITION BY recording, pid, kind, name ORDER BY bucket) AS upto,
            sum(calls) OVER (PARTITION BY recording, pid, kind, name) AS all_calls
        FROM _duration_buckets
    ),
    medians AS (
        SELECT recording, pid, kind, name, min(bucket) AS middle
        FROM counted
        WHERE 2 * upto >= all_calls
        GROUP BY ALL
    ),
    spread AS (
        SELECT
            counted.*,
            medians.middle,
            sum(counted.calls) OVER (
                PARTITION BY counted.recording, counted.pid, counted.kind, counted.name
                ORDER BY abs(counted.bucket - medians.middle)
            ) AS near
        FROM counted
        JOIN medians
            ON medians.recording = counted.recording
            AND medians.pid = counted.pid
            AND medians.kind = counted.kind
            AND medians.name = counted.name
    ),
    deviations AS (
        SELECT recording, pid, kind, name, greatest(min(abs(bucket - middle)), 1) AS deviation
        FROM spread
        WHERE 2 * near >= all_calls
        GROUP BY ALL
    ),
    outliers AS (
        SELECT
            spread.recording,
            spread.pid,
            spread.kind,
            spread.name,
            any_value(spread.all_calls) AS calls,
            exp((any_value(spread.middle) + 0.5) / 8) AS median_ns,
            any_value(deviations.deviation) AS deviation,
            sum(spread.calls) AS times,
            sum(spread.sum_ns) AS sum_ns,
            max(spread.longest_ns) AS longest_ns,
            arg_max(spread.longest_at_ns, spread.longest_ns) AS longest_at_ns
        FROM spread
        JOIN deviations
            ON deviations.recording = spread.recording
            AND deviations.pid = spread.pid
            AND deviations.kind = spread.kind
            AND deviations.name = spread.name
        CROSS JOIN thresholds
        WHERE spread.bucket - spread.middle > thresholds.min_deviations * 1.4826 * deviations.deviation
        GROUP BY ALL
    )
SELECT
    outliers.recording, -- recording
    outliers.pid, -- process
    outliers.kind, -- kind of event
    outliers.name, -- function or region
    CAST(outliers.calls AS BIGINT) AS calls, -- calls of that name
    CAST(outliers.times AS BIGINT) AS times, -- of them, outliers
    CAST(outliers.median_ns AS BIGINT) AS median_ns, -- [ns] median of all calls, to 7 %
    CAST(outliers.median_ns * (exp(outliers.deviation / 8) - 1) AS BIGINT) AS mad_ns, -- [ns] median deviation from it
    outliers.longest_ns, -- [ns] the longest
    outliers.longest_at_ns, -- [ns] when that began
    ln(outliers.longest_ns / outliers.median_ns) * 8 / (1.4826 * outliers.deviation)
        AS score, -- deviations of the longest, of logarithms, scaled as standard deviations
    CAST(outliers.sum_ns - outliers.times * outliers.median_ns AS BIGINT) AS excess_ns -- [ns] of all outliers
FROM outliers
JOIN _progress AS progress ON progress.recording = outliers.recording AND progress.pid = outliers.pid
LEFT JOIN _detail_shares AS shares ON shares.recording = outliers.recording AND shares.kind = outliers.kind
CROSS JOIN thresholds
WHERE outliers.calls >= thresholds.min_calls
    AND outliers.times <= thresholds.max_share * outliers.calls
    AND outliers.sum_ns - outliers.times * outliers.median_ns
        >= thresholds.min_cost * (progress.watched_ns - progress.first_ns) * coalesce(shares.share, 1)
ORDER BY excess_ns DESC, outliers.recording, outliers.pid, outliers.kind, outliers.name
