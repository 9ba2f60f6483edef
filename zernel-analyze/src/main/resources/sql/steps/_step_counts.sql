-- Steps of each process: those of its training thread with the most.
--
-- needs: steps
CREATE TABLE _step_counts AS
WITH
    counts AS (
        SELECT recording, pid, tid, count(*) AS steps
        FROM steps
        GROUP BY ALL
    )
SELECT
    recording, -- recording
    pid, -- process
    arg_max(tid, (steps, -tid)) AS tid, -- its training thread with the most steps, of several the first
    max(steps) AS steps -- steps of that thread
FROM counts
GROUP BY recording, pid
