-- In whose steps each process's work counts: its own, or, as of a data worker, those of the one that has most.
--
-- needs: _threads, _step_counts
CREATE TABLE _step_owners AS
WITH
    most AS (
        SELECT recording, arg_max(pid, (steady_steps, -pid)) AS pid
        FROM _step_counts
        GROUP BY recording
    ),
    seen AS (
        SELECT DISTINCT recording, pid
        FROM _threads
    )
SELECT
    seen.recording, -- recording
    seen.pid, -- process
    coalesce(counts.pid, most.pid) AS owner -- process whose steps count
FROM seen
JOIN most ON most.recording = seen.recording
LEFT JOIN _step_counts AS counts ON counts.recording = seen.recording AND counts.pid = seen.pid
