-- How long each process takes for a step, and until when it could have gone on.
--
-- A process could have gone on until it exited, or until the recording ended. An exit is told of the thread that ended
-- last, which need not be the main thread.
--
-- needs: events, recordings, _threads, _process_info, steps
-- digest: kept
CREATE TABLE _progress AS
WITH
    seen AS (
        SELECT recording, pid, min(first_ns) AS first_ns, max(last_ns) AS last_ns
        FROM _threads
        GROUP BY ALL
    ),
    ends AS (
        SELECT seen.recording, greatest(max(seen.last_ns), coalesce(any_value(recordings.ended_ns), 0)) AS ended_ns
        FROM seen
        JOIN recordings ON recordings.recording = seen.recording
        GROUP BY ALL
    ),
    ended AS (
        SELECT recording, pid, ts_ns AS exited_ns, status AS exit_status
        FROM events
        WHERE kind = 'process' AND name = 'exit'
        UNION ALL
        SELECT recording, pid, exited_ns, exit_status
        FROM _process_info
        WHERE exited_ns IS NOT NULL
    ),
    exits AS (
        SELECT recording, pid, max(exited_ns) AS exited_ns, arg_max(exit_status, exited_ns) AS exit_status
        FROM ended
        GROUP BY ALL
    ),
    paces AS (
        SELECT
            recording,
            pid,
            count(*) AS steps,
            median(dur_ns) AS step_ns,
            max(CASE WHEN step_kind <> 'warmup' THEN dur_ns END) AS longest_ns,
            max(end_ns) AS last_step_ns
        FROM steps
        GROUP BY ALL
    )
SELECT
    seen.recording, -- recording
    seen.pid, -- process
    seen.first_ns, -- [ns] start of its first event
    ends.ended_ns, -- [ns] end of the recording
    exits.exited_ns, -- [ns] when the process exited, if it did
    exits.exit_status, -- its exit code
    coalesce(exits.exited_ns, ends.ended_ns) AS watched_ns, -- [ns] until when it could have gone on
    coalesce(paces.steps, 0) AS steps, -- steps
    CAST(paces.step_ns AS BIGINT) AS step_ns, -- [ns] median step
    paces.longest_ns, -- [ns] longest step, without warm-up
    paces.last_step_ns -- [ns] end of its last step
FROM seen
JOIN ends ON ends.recording = seen.recording
LEFT JOIN exits ON exits.recording = seen.recording AND exits.pid = seen.pid
LEFT JOIN paces ON paces.recording = seen.recording AND paces.pid = seen.pid
