-- GPU memory over time: at most 60 points per process and device, for drawing.
--
-- A point holds the most that was live in its part of the time between the first event and the last; where nothing
-- changed it is what was live before.
--
-- needs: device_memory, _torch_levels
CREATE VIEW memory_curve AS
WITH
    levels AS (
        SELECT recording, pid, device, at_ns, live_bytes, NULL AS allocated_bytes
        FROM device_memory
        UNION ALL
        SELECT recording, pid, device, at_ns, NULL AS live_bytes, allocated_bytes
        FROM _torch_levels
    ),
    spans AS (
        SELECT recording, pid, device, min(at_ns) AS first_ns, greatest(max(at_ns) - min(at_ns), 1) AS span_ns
        FROM levels
        GROUP BY ALL
    ),
    placed AS (
        SELECT
            levels.recording,
            levels.pid,
            levels.device,
            least((levels.at_ns - spans.first_ns) * 60 // spans.span_ns, 59) AS point,
            max(levels.live_bytes) AS live_bytes,
            arg_max(levels.live_bytes, levels.at_ns) AS last_live_bytes,
            max(levels.allocated_bytes) AS allocated_bytes,
            arg_max(levels.allocated_bytes, levels.at_ns) AS last_allocated_bytes
        FROM levels
        JOIN spans
            ON spans.recording = levels.recording
            AND spans.pid = levels.pid
            AND spans.device IS NOT DISTINCT FROM levels.device
        GROUP BY ALL
    ),
    points AS (
        SELECT spans.recording, spans.pid, spans.device, unnest(range(60)) AS point, spans.first_ns, spans.span_ns
        FROM spans
    ),
    filled AS (
        SELECT
            points.recording,
            points.pid,
            points.device,
            points.point,
            points.first_ns + points.point * points.span_ns // 60 AS at_ns,
            placed.live_bytes,
            placed.allocated_bytes,
            last_value(placed.last_live_bytes IGNORE NULLS) OVER before AS before_live_bytes,
            last_value(placed.last_allocated_bytes IGNORE NULLS) OVER before AS before_allocated_bytes
        FROM points
        LEFT JOIN placed
            ON placed.recording = points.recording
            AND placed.pid = points.pid
            AND placed.device IS NOT DISTINCT FROM points.device
            AND placed.point = points.point
        WINDOW before AS (
            PARTITION BY points.recording, points.pid, points.device
            ORDER BY points.point
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        )
    )
SELECT
    recording, -- recording
    pid, -- process
    device, -- GPU as the process counts them
    point, -- place on the curve, from 0
    at_ns, -- [ns] begin of the point
    greatest(live_bytes, before_live_bytes, 0) AS live_bytes, -- [bytes] most that was allocated from the driver
    greatest(allocated_bytes, before_allocated_bytes, 0) AS allocated_bytes -- [bytes] most PyTorch had handed out
FROM filled
ORDER BY recording, pid, device, point
