-- What PyTorch's allocator did in each window of detail: how often, and how much memory at once.
--
-- What was handed out before a window began is not known, nor how much of it was released in it: the allocation of such
-- an address was not seen. So there is no level here, only what the window itself handed out: all of it, the most of
-- that at once, and what of it was left. Recordings that hold all allocations have `torch_memory`.
--
-- needs: events, _window_buckets
CREATE VIEW torch_memory_windows AS
WITH
    calls AS (
        SELECT
            events.recording,
            events.pid,
            windows.number,
            windows.start_ns,
            windows.end_ns,
            events.kind = 'torch_alloc' AS allocates,
            events.device,
            events.addr,
            events.bytes,
            events.ts_ns
        FROM events
        JOIN _window_buckets AS windows
            ON windows.recording = events.recording
            AND windows.kind = events.kind
            AND windows.bucket = events.ts_ns >> 30
        WHERE (events.kind IN ('torch_alloc', 'torch_free')) IS TRUE
            AND events.count IS NULL
            AND events.ts_ns >= windows.start_ns
            AND events.ts_ns <= windows.end_ns
    ),
    -- A release takes back what its address was last handed out for, in the same window.
    matched AS (
        SELECT
            calls.*,
            CASE WHEN allocates THEN bytes ELSE lag(CASE WHEN allocates THEN bytes END) OVER address END
                AS known_bytes,
            CASE WHEN allocates THEN device ELSE lag(CASE WHEN allocates THEN device END) OVER address END
                AS known_device
        FROM calls
        WINDOW address AS (PARTITION BY recording, pid, number, addr ORDER BY ts_ns)
    ),
    changes AS (
        SELECT
            matched.*,
            sum(CASE WHEN allocates THEN known_bytes ELSE -known_bytes END) OVER (
                PARTITION BY recording, pid, number, known_device
                ORDER BY ts_ns
                ROWS UNBOUNDED PRECEDING
            ) AS left_bytes
        FROM matched
    ),
    devices AS (
        SELECT
            recording,
            pid,
            number,
            known_device,
            any_value(start_ns) AS start_ns,
            any_value(end_ns) AS end_ns,
            count(*) FILTER (WHERE allocates) AS allocs,
            count(*) FILTER (WHERE NOT allocates) AS frees,
            sum(known_bytes) FILTER (WHERE allocates) AS handed_out_bytes,
            max(left_bytes) AS peak_bytes,
            arg_max(left_bytes, ts_ns) AS left_bytes
        FROM changes
        GROUP BY recording, pid, number, known_device
    )
SELECT
    recording, -- recording
    pid, -- process
    number, -- number of the window
    start_ns, -- [ns] when it began
    end_ns, -- [ns] when it ended
    known_device AS device, -- GPU as the process counts them; NULL: releases of memory that was handed out before
    allocs, -- times that memory was handed out
    frees, -- times that it was given back
    CAST(handed_out_bytes AS BIGINT) AS handed_out_bytes, -- [bytes] handed out in the window
    CAST(peak_bytes AS BIGINT) AS peak_bytes, -- [bytes] most of that at once
    CAST(left_bytes AS BIGINT) AS left_bytes -- [bytes] of that not given back when the window ended
FROM devices
ORDER BY recording, pid, number, device
