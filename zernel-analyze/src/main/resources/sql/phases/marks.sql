-- Marks that users put into the recording, with the step each fell into.
--
-- needs: events, recordings, steps, _step_counts
CREATE VIEW marks AS
WITH
    named AS (
        SELECT recording, ts_ns, name, pid, comm
        FROM events
        WHERE kind = 'mark'
    ),
    first_thread AS (
        SELECT recording, arg_max(pid, steps) AS pid, arg_max(tid, steps) AS tid
        FROM _step_counts
        GROUP BY recording
    ),
    step_starts AS (
        SELECT steps.recording, steps.start_ns, steps.end_ns, steps.step
        FROM steps
        JOIN first_thread
            ON first_thread.recording = steps.recording
            AND first_thread.pid = steps.pid
            AND first_thread.tid = steps.tid
    )
SELECT
    named.recording, -- recording
    named.ts_ns, -- [ns] when, since the epoch
    named.ts_ns - recordings.started_ns AS after_ns, -- [ns] since recording began
    named.name AS text, -- what the mark says
    CASE WHEN named.ts_ns < step_starts.end_ns THEN step_starts.step END AS step -- step of the thread with the most
FROM named
LEFT JOIN recordings ON recordings.recording = named.recording
ASOF LEFT JOIN step_starts
    ON step_starts.recording = named.recording
    AND step_starts.start_ns <= named.ts_ns
ORDER BY ALL
