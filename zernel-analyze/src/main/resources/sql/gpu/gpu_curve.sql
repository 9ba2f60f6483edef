-- What each GPU did over the time that was profiled: at most 120 points per process and device, for drawing.
--
-- What of a point's time is none of these was idle, or not profiled.
--
-- needs: _gpu_spans
CREATE VIEW gpu_curve AS
WITH
    constants AS (
        SELECT 120 AS points -- of a picture
    ),
    bounds AS (
        SELECT
            recording,
            pid,
            device,
            min(start_ns) AS first_ns,
            CAST(ceil((max(end_ns) - min(start_ns)) / any_value(constants.points)) AS BIGINT) AS point_ns
        FROM _gpu_spans
        CROSS JOIN constants
        GROUP BY ALL
    ),
    pieces AS (
        SELECT
            spans.recording,
            spans.pid,
            spans.device,
            spans.compute,
            spans.communication,
            spans.copy,
            spans.start_ns,
            spans.end_ns,
            bounds.first_ns,
            bounds.point_ns,
            unnest(range(
                (spans.start_ns - bounds.first_ns) // bounds.point_ns,
                (spans.end_ns - 1 - bounds.first_ns) // bounds.point_ns + 1
            )) AS point
        FROM _gpu_spans AS spans
        JOIN bounds
            ON bounds.recording = spans.recording
            AND bounds.pid = spans.pid
            AND bounds.device = spans.device
    ),
    cut AS (
        SELECT
            recording,
            pid,
            device,
            point,
            first_ns + point * point_ns AS at_ns,
            point_ns,
            compute,
            communication,
            copy,
            least(end_ns, first_ns + (point + 1) * point_ns) - greatest(start_ns, first_ns + point * point_ns) AS dur_ns
        FROM pieces
    )
SELECT
    recording, -- recording
    pid, -- process
    device, -- GPU, as the process counts them
    point, -- place on the curve, from 0
    at_ns, -- [ns] begin of the point
    any_value(point_ns) AS point_ns, -- [ns] its length
    CAST(sum(CASE WHEN compute THEN dur_ns ELSE 0 END) AS BIGINT) AS compute_ns, -- [ns] of it in compute
    CAST(sum(CASE WHEN communication AND NOT compute THEN dur_ns ELSE 0 END) AS BIGINT)
        AS communication_ns, -- [ns] of it in communication that no compute hides
    CAST(sum(CASE WHEN copy AND NOT compute AND NOT communication THEN dur_ns ELSE 0 END) AS BIGINT)
        AS copy_ns -- [ns] of it in copies alone
FROM cut
GROUP BY recording, pid, device, point, at_ns
ORDER BY recording, pid, device, point
