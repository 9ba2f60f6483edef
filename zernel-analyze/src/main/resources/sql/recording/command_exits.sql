-- How the recorded command ended: its own process, not what that started.
--
-- needs: recordings, _process_info, events
-- digest: kept
CREATE VIEW command_exits AS
SELECT
    recordings.recording, -- recording
    exits.pid, -- process
    exits.status, -- exit code as a shell shows it, 128 and more for a signal; NULL where it is not known
    CASE
        WHEN exits.status = 137 THEN 'was killed (SIGKILL), which the kernel does when memory is full'
        WHEN exits.status > 128 THEN format('was ended by signal {}', exits.status - 128)
        WHEN exits.status > 0 THEN format('ended with status {}', exits.status)
        ELSE 'ended'
    END AS text -- the same in words
FROM recordings
JOIN _process_info AS info ON info.recording = recordings.recording AND info.ppid = recordings.recorder_pid
JOIN (
    SELECT recording, pid, status
    FROM events
    WHERE (kind = 'process') IS TRUE AND name = 'exit'
) AS exits
    ON exits.recording = info.recording
    AND exits.pid = info.pid
WHERE recordings.stop = 'command-exited'
