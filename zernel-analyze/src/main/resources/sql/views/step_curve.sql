-- How long steps took over time: at most 60 points per training thread, for drawing.
--
-- needs: steps
CREATE VIEW step_curve AS
WITH
    placed AS (
        SELECT
            recording,
            pid,
            tid,
            step,
            dur_ns,
            (step - 1) * 60 // greatest(count(*) OVER (PARTITION BY recording, pid, tid), 60) AS point
        FROM steps
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    point, -- place on the curve, from 0
    min(step) AS first_step, -- first step of the point
    count(*) AS steps, -- steps in the point
    max(dur_ns) AS max_ns -- [ns] slowest of them
FROM placed
GROUP BY recording, pid, tid, point
ORDER BY recording, pid, tid, point
