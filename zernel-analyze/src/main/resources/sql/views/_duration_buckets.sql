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
GROUP BY ALL
