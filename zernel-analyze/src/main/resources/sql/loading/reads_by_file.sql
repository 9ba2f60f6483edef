-- Reads per file: who reads it, how much, how long, and how much came from storage.
--
-- needs: events
CREATE VIEW reads_by_file AS
WITH
    opens AS (
        SELECT recording, path, count(*) AS opens, sum(dur_ns) AS open_ns
        FROM events
        WHERE kind = 'io_open' AND path IS NOT NULL
        GROUP BY ALL
    ),
    sums AS (
        SELECT
            recording,
            path,
            count(DISTINCT pid) AS processes,
            count(*) AS reads,
            sum(bytes) AS bytes,
            sum(miss_bytes) AS miss_bytes,
            sum(dur_ns) AS sum_ns,
            sum(io_ns) AS disk_ns,
            max(dur_ns) AS max_ns
        FROM events
        WHERE kind = 'io' AND is_read(name) AND path IS NOT NULL
        GROUP BY ALL
    )
SELECT
    sums.recording, -- recording
    sums.path, -- file, pipe or socket
    sums.processes, -- processes that read it
    coalesce(opens.opens, 0) AS opens, -- times it was opened
    sums.reads, -- calls
    CAST(coalesce(sums.bytes, 0) AS BIGINT) AS bytes, -- [bytes] read
    CAST(sums.miss_bytes AS BIGINT) AS miss_bytes, -- [bytes] added to the page cache meanwhile
    CAST(coalesce(sums.sum_ns, 0) AS BIGINT) AS sum_ns, -- [ns] blocked in the calls
    CAST(sums.disk_ns AS BIGINT) AS disk_ns, -- [ns] of it, blocked on block devices
    CAST(coalesce(opens.open_ns, 0) AS BIGINT) AS open_ns, -- [ns] opening it
    sums.max_ns -- [ns] longest read
FROM sums
LEFT JOIN opens ON opens.recording = sums.recording AND opens.path = sums.path
ORDER BY sums.recording, sums.sum_ns DESC, sums.path
