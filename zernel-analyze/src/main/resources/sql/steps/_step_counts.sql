-- Steps of each process: those of its training thread with the most.
--
-- needs: steps
-- dialect: common
CREATE TABLE _step_counts AS
WITH
    counts AS (
        SELECT recording, pid, tid, count(*) AS steps, count(*) FILTER (WHERE step_kind = 'train') AS train_steps
        FROM steps
        GROUP BY ALL
    )
SELECT
    recording, -- recording
    pid, -- process
    max_by(tid, (steps, -tid)) AS tid, -- its training thread with the most steps, of several the first
    max(steps) AS steps, -- steps of that thread
    max_by(CASE WHEN train_steps > 0 THEN train_steps ELSE steps END, (steps, -tid))
        AS steady_steps -- steps that numbers per step are of: those of kind train, or all where there is none
FROM counts
GROUP BY recording, pid
