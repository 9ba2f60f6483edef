-- Copies and fills per process, direction and kind of host memory.
--
-- The time is that of the call. It is blocked where the call is not asynchronous, and in fact where the host's memory
-- is pageable, whatever the call is named; else it is the time to enqueue. Sums are of all of the recording, with what
-- came before the first step, such as moving the model to the GPU; what is per step is of steps of kind train.
--
-- needs: events, _step_counts, _step_spans
CREATE VIEW copies AS
WITH
    calls AS (
        SELECT recording, pid, copy_kind, async, host_memory, ts_ns AS at_ns, dur_ns, bytes, status
        FROM events
        WHERE kind = 'cuda_copy' AND outermost(depth, ts_ns)
    ),
    steady AS (
        SELECT recording, pid, copy_kind, async, host_memory, count(*) AS copies
        FROM in_spans(calls, _step_spans)
        WHERE steady
        GROUP BY ALL
    ),
    sums AS (
        SELECT
            recording,
            pid,
            copy_kind,
            async,
            host_memory,
            count(*) AS copies,
            count(CASE WHEN status <> 0 THEN 1 END) AS failed,
            sum(bytes) AS bytes,
            sum(dur_ns) AS sum_ns,
            quantile_cont(dur_ns, [0.5, 0.99]) AS q,
            max(dur_ns) AS max_ns
        FROM calls
        GROUP BY ALL
    )
SELECT
    sums.recording, -- recording
    sums.pid, -- process
    sums.copy_kind, -- HtoH, HtoD, DtoH, DtoD, PtoP, default or memset
    sums.async, -- 1 when the call is asynchronous by its name, 0 when it waits
    sums.host_memory, -- pinned or pageable; NULL when that cannot be known
    sums.copies, -- calls
    coalesce(steady.copies, 0) / counts.steady_steps AS per_step, -- calls in a mean step of kind train
    sums.failed, -- calls that returned an error
    CAST(sums.bytes AS BIGINT) AS bytes, -- [bytes] copied
    CAST(sums.sum_ns AS BIGINT) AS sum_ns, -- [ns] time in the calls
    CAST(sums.q[1] AS BIGINT) AS p50_ns, -- [ns] median
    CAST(sums.q[2] AS BIGINT) AS p99_ns, -- [ns] 99th percentile
    sums.max_ns -- [ns] longest
FROM sums
LEFT JOIN _step_counts AS counts ON counts.recording = sums.recording AND counts.pid = sums.pid
LEFT JOIN steady
    ON steady.recording = sums.recording
    AND steady.pid = sums.pid
    AND steady.copy_kind IS NOT DISTINCT FROM sums.copy_kind
    AND steady.async IS NOT DISTINCT FROM sums.async
    AND steady.host_memory IS NOT DISTINCT FROM sums.host_memory
ORDER BY sums.recording, sums.pid, sums.sum_ns DESC, sums.copy_kind, sums.async, sums.host_memory
