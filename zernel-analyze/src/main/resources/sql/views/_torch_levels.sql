-- Memory that PyTorch's allocator has handed out: exact where steps end and at the maximum, else by slice.
--
-- The maximum was in one of the slices that handed out more than the level was below it. Of these the 1,000 that may
-- hold most are looked into. Of other slices only the level at their end is known, and where a step ends in them.
--
-- needs: events, _torch_slices, step_work
CREATE TABLE _torch_levels AS
WITH
    most AS (
        SELECT recording, pid, device, max(greatest(allocated_bytes, allocated_bytes - change_bytes)) AS bytes
        FROM _torch_slices
        GROUP BY ALL
    ),
    slices AS (
        SELECT
            recording,
            pid,
            device,
            slice,
            allocated_bytes,
            allocated_bytes - change_bytes AS before_bytes,
            allocated_bytes - change_bytes + handed_out_bytes AS most_bytes
        FROM _torch_slices
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
    step_ends AS (
        SELECT recording, pid, end_ns, end_ns >> 20 AS slice
        FROM step_work
    ),
    told AS (
        SELECT
            slices.*,
            highest.slice IS NOT NULL AS is_highest,
            highest.slice IS NOT NULL OR ends.slice IS NOT NULL AS in_detail
        FROM slices
        LEFT JOIN highest
            ON highest.recording = slices.recording
            AND highest.pid = slices.pid
            AND highest.device IS NOT DISTINCT FROM slices.device
            AND highest.slice = slices.slice
        LEFT JOIN (SELECT DISTINCT recording, pid, slice FROM step_ends) AS ends
            ON ends.recording = slices.recording
            AND ends.pid = slices.pid
            AND ends.slice = slices.slice
    ),
    changes AS (
        SELECT
            told.recording,
            told.pid,
            told.device,
            told.slice,
            told.before_bytes,
            told.is_highest,
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
    changes.recording,
    changes.pid,
    changes.device,
    step_ends.end_ns AS at_ns,
    CAST(any_value(changes.before_bytes) + sum(changes.change_bytes) AS BIGINT) AS allocated_bytes
FROM changes
JOIN step_ends
    ON step_ends.recording = changes.recording
    AND step_ends.pid = changes.pid
    AND step_ends.slice = changes.slice
WHERE NOT changes.is_highest AND changes.at_ns <= step_ends.end_ns
GROUP BY changes.recording, changes.pid, changes.device, step_ends.end_ns
UNION ALL
SELECT recording, pid, device, (slice + 1) << 20, allocated_bytes
FROM told
WHERE NOT is_highest
UNION ALL
SELECT
    recording, -- recording
    pid, -- process
    device, -- GPU as the process counts them
    at_ns, -- [ns] when
    CAST(before_bytes + sum(change_bytes) OVER (
        PARTITION BY recording, pid, device, slice
        ORDER BY at_ns
        ROWS UNBOUNDED PRECEDING
    ) AS BIGINT) AS allocated_bytes -- [bytes] handed out after it
FROM changes
WHERE is_highest
