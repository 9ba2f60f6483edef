-- The innermost call that each thread had not returned from when it was last seen.
--
-- A call without an end may also be one whose end was lost. Then the thread does something after it, and it is no row.
--
-- needs: _rare_events
CREATE TABLE _open_calls AS
WITH
    unended AS (
        SELECT recording, pid, tid, kind, name, ts_ns
        FROM _rare_events
        WHERE dur_ns IS NULL
            AND kind IN (
                'region', 'backward', 'dist_wait', 'cuda_sync', 'cuda_copy', 'cuda_graph', 'nccl', 'nccl_comm',
                'gpu_alloc', 'gpu_free'
            )
    ),
    innermost AS (
        SELECT
            recording,
            pid,
            tid,
            arg_max(kind, ts_ns) AS kind,
            arg_max(name, ts_ns) AS name,
            max(ts_ns) AS since_ns
        FROM unended
        GROUP BY ALL
    ),
    went_on AS (
        SELECT DISTINCT innermost.recording, innermost.pid, innermost.tid
        FROM innermost
        JOIN _rare_events AS later
            ON later.recording = innermost.recording
            AND later.pid = innermost.pid
            AND later.tid = innermost.tid
        WHERE later.ts_ns > innermost.since_ns
    )
SELECT
    innermost.recording, -- recording
    innermost.pid, -- process
    innermost.tid, -- thread
    innermost.kind, -- kind of the call
    innermost.name, -- function or region
    innermost.since_ns -- [ns] when it was called
FROM innermost
LEFT JOIN went_on
    ON went_on.recording = innermost.recording
    AND went_on.pid = innermost.pid
    AND went_on.tid = innermost.tid
WHERE went_on.pid IS NULL
