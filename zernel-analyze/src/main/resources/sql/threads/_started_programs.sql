-- Processes that a training process started, itself or by a shell or another process between.
--
-- Forks that were recorded count, and parents that the recorder listed. Data workers and ranks are among them.
--
-- needs: events, _process_info, training_threads
CREATE TABLE _started_programs AS
WITH RECURSIVE
    parents AS (
        SELECT recording, child_pid AS pid, pid AS ppid
        FROM events
        WHERE kind = 'process' AND name = 'fork' AND child_pid <> pid
        UNION
        SELECT recording, pid, ppid
        FROM _process_info
        WHERE ppid IS NOT NULL AND ppid <> pid
    ),
    started AS (
        SELECT parents.recording, parents.pid, parents.ppid AS training_pid
        FROM parents
        SEMI JOIN training_threads AS threads ON threads.recording = parents.recording AND threads.pid = parents.ppid
        UNION
        SELECT parents.recording, parents.pid, started.training_pid
        FROM started
        JOIN parents ON parents.recording = started.recording AND parents.ppid = started.pid
    )
SELECT
    recording, -- recording
    pid, -- process that was started
    min(training_pid) AS training_pid -- process that trains and started it
FROM started
WHERE pid <> training_pid
GROUP BY recording, pid
