-- Steps of each process: those of its training thread with the most.
--
-- needs: training_threads
CREATE TABLE _step_counts AS
SELECT
    recording, -- recording
    pid, -- process
    arg_max(tid, (steps, -tid)) AS tid, -- its training thread with the most steps, of several the first
    max(steps) AS steps -- steps of that thread
FROM training_threads
WHERE steps > 0
GROUP BY recording, pid
