-- Processes in the recording, with what each is for.
--
-- needs: _threads, _process_info, training_threads
-- digest: kept
CREATE TABLE processes AS
WITH
    seen AS (
        SELECT
            recording,
            pid,
            sum(events) AS events,
            count(DISTINCT tid) AS threads,
            min(first_ns) AS first_ns,
            max(last_ns) AS last_ns,
            arg_max(comm, CASE WHEN tid = pid THEN last_ns END) AS comm,
            bool_or(comm = 'pt_data_worker' AND tid = pid) AS works
        FROM _threads
        GROUP BY ALL
    ),
    training AS (
        SELECT recording, pid, bool_and(purpose = 'inference') AS infers
        FROM training_threads
        GROUP BY ALL
    ),
    merged AS (
        SELECT
            coalesce(seen.recording, info.recording) AS recording,
            coalesce(seen.pid, info.pid) AS pid,
            info.ppid,
            coalesce(seen.comm, info.comm) AS comm,
            coalesce(seen.works, FALSE) AS works,
            coalesce(seen.events, 0) AS events,
            coalesce(seen.threads, 0) AS threads,
            seen.first_ns,
            seen.last_ns,
            info.cmdline,
            info.rank,
            info.world_size,
            info.exit_status
        FROM seen
        FULL JOIN _process_info AS info ON info.recording = seen.recording AND info.pid = seen.pid
    )
SELECT
    merged.recording, -- recording
    merged.pid, -- process
    merged.ppid, -- its parent, if known
    merged.comm, -- last name of its main thread
    CASE
        WHEN training.infers THEN 'inference'
        WHEN training.pid IS NOT NULL THEN 'training'
        WHEN merged.works THEN 'data worker'
        ELSE 'other'
    END AS role, -- training, inference, data worker or other
    CAST(merged.events AS BIGINT) AS events, -- its events
    merged.threads, -- its threads with events
    merged.first_ns, -- [ns] start of its first event
    merged.last_ns, -- [ns] end of its last event
    merged.rank, -- its rank in the job, as it was started with
    merged.world_size, -- ranks of the job
    merged.exit_status, -- its exit code, if it ended
    merged.cmdline -- its command line, if known
FROM merged
LEFT JOIN training ON training.recording = merged.recording AND training.pid = merged.pid
ORDER BY merged.recording, role IN ('training', 'inference') DESC, role DESC, events DESC, merged.pid
