-- Errors that the driver reported of each GPU: XIDs, and memory errors that ECC could not correct.
--
-- The words are those of NVIDIA's list of XIDs. ECC errors are counted by the driver since it was loaded; those in
-- `times` came while it was recorded. The driver does not say which process an error is of: it is named where only one
-- was on the GPU.
--
-- needs: events
CREATE VIEW device_errors AS
WITH
    meanings AS (
        SELECT xid, meaning, cause
        FROM (
            VALUES
                (13, 'graphics engine exception', 'program'),
                (31, 'GPU memory page fault', 'program'),
                (32, 'invalid or corrupted push buffer stream', 'program'),
                (43, 'GPU stopped processing', 'program'),
                (45, 'preemptive cleanup, due to previous errors', 'echo'),
                (48, 'double bit ECC error', 'memory'),
                (61, 'internal micro-controller breakpoint', 'firmware'),
                (62, 'internal micro-controller halt', 'firmware'),
                (63, 'ECC page retirement or row remapping recorded', 'memory'),
                (64, 'ECC page retirement or row remapping failed', 'memory'),
                (69, 'graphics engine class error', 'program'),
                (74, 'NVLink error', 'link'),
                (79, 'GPU has fallen off the bus', 'bus'),
                (92, 'high single-bit ECC error rate', 'memory'),
                (94, 'contained ECC error', 'memory'),
                (95, 'uncontained ECC error', 'memory'),
                (109, 'context switch timeout', 'firmware'),
                (119, 'GSP RPC timeout', 'firmware'),
                (120, 'GSP error', 'firmware'),
                (140, 'unrecovered ECC error', 'memory')
        ) AS known(xid, meaning, cause)
    ),
    xids AS (
        SELECT recording, device, value AS xid, count(*) AS times, min(ts_ns) AS first_ns, max(ts_ns) AS last_ns
        FROM events
        WHERE kind = 'gpu_sample' AND name = 'xid'
        GROUP BY recording, device, value
    ),
    counts AS (
        SELECT
            recording,
            device,
            ts_ns,
            value,
            value - lag(value) OVER (PARTITION BY recording, device ORDER BY ts_ns) AS more
        FROM events
        WHERE kind = 'gpu_sample' AND name = 'ecc_errors'
    ),
    ecc AS (
        SELECT
            recording,
            device,
            CAST(coalesce(sum(more) FILTER (more > 0), 0) AS BIGINT) AS times,
            min(ts_ns) FILTER (more > 0) AS first_ns,
            max(ts_ns) FILTER (more > 0) AS last_ns,
            arg_min(value, ts_ns) AS before
        FROM counts
        GROUP BY recording, device
    ),
    owners AS (
        SELECT recording, device, min(pid) AS pid
        FROM events
        WHERE kind = 'gpu_process'
        GROUP BY recording, device
        HAVING count(DISTINCT pid) = 1
    ),
    errors AS (
        SELECT
            xids.recording,
            xids.device,
            xids.xid,
            coalesce(meanings.meaning, 'see NVIDIA''s list of XIDs') AS meaning,
            coalesce(meanings.cause, 'unknown') AS cause,
            xids.times,
            xids.first_ns,
            xids.last_ns,
            0 AS before
        FROM xids
        LEFT JOIN meanings ON meanings.xid = xids.xid
        UNION ALL
        SELECT recording, device, NULL, 'memory error that ECC could not correct', 'memory', times, first_ns, last_ns,
            before
        FROM ecc
        WHERE times > 0 OR before > 0
    )
SELECT
    errors.recording, -- recording
    errors.device, -- GPU as the driver counts them
    errors.xid, -- number of the error; NULL for those that ECC counts
    errors.meaning, -- what it stands for
    errors.cause, -- program, memory, link, bus, firmware, echo (of an error before) or unknown
    errors.times, -- how often it came while it was recorded
    errors.first_ns, -- [ns] when it was first seen
    errors.last_ns, -- [ns] and last
    errors.before, -- how often it had come before, where the driver counts
    owners.pid -- the only process on the GPU; NULL where there are several, or none is known
FROM errors
LEFT JOIN owners ON owners.recording = errors.recording AND owners.device = errors.device
ORDER BY errors.recording, errors.device, errors.first_ns
