-- Calls on the GPU of the threads in which steps are looked for, numbered, with what is alike in them.
--
-- Alike are launches of the same kernel, launches of any graph, copies in the same direction, calls of the same
-- function. More alike are copies of as many bytes, and launches of the same graph.
--
-- Where a recording holds some kinds in windows only, calls are numbered that lie in one, where all of them are. Those
-- of the other kinds are numbered throughout, too: what comes once a step is found in windows, and then everywhere.
--
-- needs: events, _nccl_calls, _stepping_threads, _detail, detail_windows
CREATE TABLE _repeated_calls AS
WITH
    calls AS (
        SELECT
            calls.recording,
            calls.pid,
            calls.tid,
            calls.ts_ns,
            calls.dur_ns,
            calls.kind,
            coalesce(calls.kernel, calls.name) AS what,
            CASE
                WHEN calls.kind = 'cuda_launch' THEN coalesce(CAST(calls.func AS VARCHAR), calls.kernel, '')
                WHEN calls.kind = 'cuda_copy' THEN coalesce(calls.copy_kind, '')
            END AS variant,
            CASE
                WHEN calls.kind = 'cuda_copy' AND calls.copy_kind <> 'memset' THEN calls.bytes
                WHEN calls.kind = 'cuda_graph' THEN calls.addr
            END AS detail
        FROM events AS calls
        JOIN _stepping_threads AS threads
            ON threads.recording = calls.recording
            AND threads.pid = calls.pid
            AND threads.tid = calls.tid
        WHERE calls.kind IN ('cuda_launch', 'backward', 'cuda_copy', 'cuda_sync', 'cuda_graph')
            AND (calls.kind <> 'cuda_graph' OR calls.name LIKE '%GraphLaunch%')
            AND (calls.kind <> 'cuda_launch' OR calls.count IS NULL)
            AND outermost(calls.depth, calls.ts_ns)
        UNION ALL
        SELECT
            calls.recording,
            calls.pid,
            calls.tid,
            calls.ts_ns,
            calls.dur_ns,
            'nccl' AS kind,
            calls.name AS what,
            calls.dtype AS variant,
            calls.bytes AS detail
        FROM _nccl_calls AS calls
        JOIN _stepping_threads AS threads
            ON threads.recording = calls.recording
            AND threads.pid = calls.pid
            AND threads.tid = calls.tid
        WHERE calls.kind = 'nccl'
    ),
    -- Of recordings with windows, calls in one, and calls of other kinds.
    windowed AS (
        SELECT
            calls.*,
            detail.kind IS NOT NULL AS is_detail,
            CASE WHEN windows.end_ns >= calls.ts_ns THEN windows.number END AS part
        FROM calls
        SEMI JOIN _detail ON _detail.recording = calls.recording
        LEFT JOIN _detail AS detail ON detail.recording = calls.recording AND detail.kind = calls.kind
        ASOF LEFT JOIN detail_windows AS windows
            ON windows.recording = calls.recording
            AND windows.start_ns <= calls.ts_ns
        WHERE detail.kind IS NULL OR windows.end_ns >= calls.ts_ns
    ),
    -- A thread that makes no detailed call in a window is not told by windows.
    placed AS (
        SELECT calls.*, FALSE AS is_detail, 0 AS part
        FROM calls
        ANTI JOIN _detail ON _detail.recording = calls.recording
        UNION ALL
        SELECT
            windowed.* REPLACE (
                CASE WHEN bool_or(is_detail) OVER (PARTITION BY recording, pid, tid) THEN part ELSE 0 END AS part
            )
        FROM windowed
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    ts_ns, -- [ns] when it was called
    dur_ns, -- [ns] how long it took
    CASE WHEN kind = 'cuda_graph' THEN 'cuda_graph' WHEN variant = 'HtoD' THEN 'HtoD' ELSE kind END AS sort, -- of call
    what, -- function or kernel
    CASE
        WHEN kind IN ('cuda_graph', 'backward') THEN hash(kind)
        WHEN kind IN ('cuda_launch', 'cuda_copy') THEN hash(kind, variant)
        ELSE hash(kind, what)
    END AS alike, -- what it has in common with calls that look much the same
    CASE WHEN detail IS NOT NULL THEN hash(kind, variant, detail) END AS same, -- and with those that look the same
    CASE WHEN part IS NOT NULL THEN count(part) OVER thread_order END
        AS position, -- its number, from 1; NULL outside windows
    CASE WHEN NOT is_detail THEN count(CASE WHEN NOT is_detail THEN 1 END) OVER thread_order END
        AS always_position, -- its number, from 1, of those of kinds that are recorded all the time
    part -- number of the window in which it is; 0 where there are none, NULL outside
FROM placed
WINDOW thread_order AS (PARTITION BY recording, pid, tid ORDER BY ts_ns ROWS UNBOUNDED PRECEDING)
