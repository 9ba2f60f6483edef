-- Durations per kind and name, over all processes: percentiles.
--
-- All durations but *gpu*, GPU execution time in a profiler's trace, are taken on the CPU. *blocked*: the thread
-- waited, in a system call, for the GPU or for other ranks. *enqueue*: the call hands work to the GPU and returns.
-- *off-cpu*: the thread was not running. *wall*: from call to return, whatever happened in between. Calls inside a
-- call of the same kind are left out. Events without an end have no duration; they are counted apart. Percentiles are
-- exact where the memory limit holds all durations (16 bytes an event in half of it), else of a histogram: `error`
-- says which. Calls of kinds that are detail rest on a share of the time.
--
-- needs: events, _detail_shares, recordings
CREATE VIEW percentiles AS
WITH
    groups AS (
        SELECT
            kind,
            name,
            min(async) IS NOT DISTINCT FROM 0 AS waits,
            count(dur_ns) AS count,
            count(*) - count(dur_ns) AS unfinished,
            sum(dur_ns) AS sum_ns,
            min(dur_ns) AS min_ns,
            quantiles(dur_ns, [0.5, 0.9, 0.99, 0.999]) AS q,
            max(dur_ns) AS max_ns
        FROM events
        WHERE coalesce(depth, 0) = 0
            AND (count IS NULL OR kind NOT IN ('cuda_launch', 'torch_alloc', 'torch_free'))
        GROUP BY ALL
        HAVING count(dur_ns) > 0
    ),
    -- Several recordings by their length.
    shares AS (
        SELECT
            shares.kind,
            1 - sum((1 - shares.share) * (recordings.ended_ns - recordings.started_ns))
                / (SELECT sum(ended_ns - started_ns) FROM recordings) AS share
        FROM _detail_shares AS shares
        JOIN recordings ON recordings.recording = shares.recording
        GROUP BY shares.kind
    )
SELECT
    groups.kind, -- kind of event
    name, -- region, function or system call
    duration_of(groups.kind, waits) AS time, -- what the duration is: blocked, enqueue, off-cpu, gpu or wall
    count, -- events with a duration
    unfinished, -- events whose end was not seen, or not recorded, as of most launches
    CAST(sum_ns AS BIGINT) AS sum_ns, -- [ns] sum over all threads, so it may exceed the wall time
    min_ns, -- [ns] shortest
    CAST(q[1] AS BIGINT) AS p50_ns, -- [ns] median
    CAST(q[2] AS BIGINT) AS p90_ns, -- [ns] 90th percentile
    CAST(q[3] AS BIGINT) AS p99_ns, -- [ns] 99th percentile
    CAST(q[4] AS BIGINT) AS p999_ns, -- [ns] 99.9th percentile
    max_ns, -- [ns] longest
    quantile_error() AS error, -- by how much the percentiles may be wrong, as a share: 0 where they are exact
    coalesce(shares.share, 1) AS time_share -- share of the time in which such calls were recorded, 0 to 1
FROM groups
LEFT JOIN shares ON shares.kind = groups.kind
ORDER BY sum_ns DESC, groups.kind, name
