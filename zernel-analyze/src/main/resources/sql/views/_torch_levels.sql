-- Memory that PyTorch's allocator has handed out: exact where steps end and at the maximum, else by slice.
--
-- The maximum was in one of the slices that handed out more than the level was below it. Of these the 1,000 that may
-- hold most are looked into. Of other slices in which no step ends, only the level at the end is known.
--
-- needs: events, _torch_slices, step_work
CREATE TABLE _torch_levels AS
WITH
    most AS (
        SELECT recording, pid, device, max(greatest(allocated_bytes, allocated_bytes - change_bytes)) AS bytes
        FROM _torch_slices
        GROUP BY ALL
    ),
    step_ends AS (
        SELECT DISTINCT recording, pid, end_ns >> 20 AS slice
        FROM step_work
    ),
    slices AS (
        SELECT
            slices.recording,
            slices.pid,
            slices.device,
            slices.slice,
            slices.allocs,
            slices.allocated_bytes,
            slices.allocated_bytes - slices.change_bytes AS before_bytes,
            slices.allocated_bytes - slices.change_bytes + slices.handed_out_bytes AS most_bytes,
            step_ends.slice IS NOT NULL AS ends_step
        FROM _torch_slices AS slices
        LEFT JOIN step_ends
            ON step_ends.recording = slices.recording
            AND step_ends.pid = slices.pid
            AND step_ends.slice = slices.slice
    ),
    highest AS (
        SELECT slices.recording, slices.pid, slices.device, slices.slice
        FROM slices
        JOIN most
            ON most.recording = slices.recording
            AND most.pid = slices.pid
            AND most.device IS NOT DISTINCT FROM slices.device
        WHERE slices.most_bytes > most.bytes
        QUALIFY row_number() OVER (
            PARTITION BY slices.recording, slices.pid, slices.device
            ORDER BY slices.most_bytes DESC, slices.slice
        ) <= 1000
    ),
    told AS (
        SELECT slices.*, slices.ends_step OR highest.slice IS NOT NULL AS in_detail
        FROM slices
        LEFT JOIN highest
            ON highest.recording = slices.recording
            AND highest.pid = slices.pid
            AND highest.device IS NOT DISTINCT FROM slices.device
            AND highest.slice = slices.slice
    ),
    changes AS (
        SELECT
            told.recording,
            told.pid,
            told.device,
            told.slice,
            told.before_bytes,
            events.ts_ns AS at_ns,
            CASE events.kind WHEN 'torch_alloc' THEN events.bytes ELSE -events.bytes END AS change_bytes
        FROM events
        JOIN told
            ON told.recording = events.recording
            AND told.pid = events.pid
            AND told.device IS NOT DISTINCT FROM events.device
            AND told.slice = events.ts_ns >> 20
        WHERE (events.kind IN ('torch_alloc', 'torch_free')) IS TRUE AND events.bytes > 0 AND told.in_detail
    )
SELECT
    recording, -- recording
    pid, -- process
    device, -- GPU as the process counts them
    at_ns, -- [ns] when
    CAST(change_bytes > 0 AS BIGINT) AS allocs, -- times that memory was handed out since the row before
    CAST(before_bytes + sum(change_bytes) OVER (
        PARTITION BY recording, pid, device, slice
        ORDER BY at_ns
        ROWS UNBOUNDED PRECEDING
    ) AS BIGINT) AS allocated_bytes -- [bytes] handed out after it
FROM changes
UNION ALL
SELECT recording, pid, device, (slice + 1) << 20, allocs, allocated_bytes
FROM told
WHERE NOT in_detail
