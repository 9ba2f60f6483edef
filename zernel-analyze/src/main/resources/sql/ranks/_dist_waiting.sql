-- Processes that wait in torch.distributed and do not use NCCL, with what they were started as.
--
-- needs: _rare_events, _process_info, files
-- digest: kept
CREATE TABLE _dist_waiting AS
WITH
    waiting AS (
        SELECT waits.recording, waits.pid, count(*) AS waits
        FROM _rare_events AS waits
        WHERE waits.kind = 'dist_wait'
            AND waits.dur_ns > 0
            AND (waits.recording, waits.pid) NOT IN (SELECT recording, pid FROM _rare_events WHERE kind = 'nccl')
        GROUP BY ALL
    )
SELECT
    waiting.recording, -- recording
    waiting.pid, -- process
    waiting.waits, -- its waits
    TRY_CAST(info.rank AS BIGINT) AS rank, -- rank that it was started as, if it was
    TRY_CAST(info.world_size AS BIGINT) AS world_size, -- ranks of the job, by the same
    coalesce(nullif(info.job, ''), CASE WHEN files.state = 'trace' THEN format('traces, {}', files.side) END)
        AS job, -- where its ranks meet, if that is known; traces are of one job, or one each of two that are compared
    info.ppid -- its parent
FROM waiting
LEFT JOIN _process_info AS info ON info.recording = waiting.recording AND info.pid = waiting.pid
LEFT JOIN files ON files.recording = waiting.recording
