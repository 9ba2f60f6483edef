-- Reads per process: calls, bytes, time blocked, and how much came from storage.
--
-- `miss_bytes` is what was added to the page cache meanwhile, also by reading ahead: nothing for a warm file. `disk_ns`
-- is the time blocked on block devices; network file systems do not count there.
--
-- needs: events, processes
CREATE VIEW reads AS
WITH
    sums AS (
        SELECT
            recording,
            pid,
            count(*) AS reads,
            count(CASE WHEN status < 0 THEN 1 END) AS failed,
            sum(bytes) AS bytes,
            sum(dur_ns) AS sum_ns,
            sum(io_ns) AS disk_ns,
            sum(miss_bytes) AS miss_bytes,
            quantiles(dur_ns, [0.5, 0.99]) AS q,
            max(dur_ns) AS max_ns
        FROM events
        WHERE kind = 'io' AND is_read(name)
        GROUP BY ALL
    )
SELECT
    sums.recording, -- recording
    sums.pid, -- process
    processes.role, -- training, data worker or other
    processes.comm, -- its name
    sums.reads, -- calls
    sums.failed, -- calls that returned an error
    CAST(coalesce(sums.bytes, 0) AS BIGINT) AS bytes, -- [bytes] read
    CAST(sums.miss_bytes AS BIGINT) AS miss_bytes, -- [bytes] added to the page cache meanwhile
    CAST(coalesce(sums.sum_ns, 0) AS BIGINT) AS sum_ns, -- [ns] blocked in the calls
    CAST(sums.disk_ns AS BIGINT) AS disk_ns, -- [ns] of it, blocked on block devices
    CAST(sums.q[1] AS BIGINT) AS p50_ns, -- [ns] median, as exact as `percentiles`
    CAST(sums.q[2] AS BIGINT) AS p99_ns, -- [ns] 99th percentile
    sums.max_ns -- [ns] longest
FROM sums
LEFT JOIN processes ON processes.recording = sums.recording AND processes.pid = sums.pid
ORDER BY sums.recording, sums.sum_ns DESC, sums.pid
