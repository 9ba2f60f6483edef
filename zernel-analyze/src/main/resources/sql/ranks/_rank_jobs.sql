-- Of which job each process is a rank.
--
-- Ranks are of one job where they meet at the same address, by what they were started with. Where that is not known,
-- all are of one job; but those that wait in torch.distributed without NCCL are of that of their parent. Traces are of
-- one job, or of one each of two that are compared.
--
-- needs: _dist_waiting, _collective_calls, _process_info, files
CREATE TABLE _rank_jobs AS
WITH
    ranks AS (
        SELECT recording, pid
        FROM _process_info
        UNION
        SELECT recording, pid
        FROM _dist_waiting
        UNION
        SELECT recording, pid
        FROM _collective_calls
    )
SELECT
    ranks.recording, -- recording
    ranks.pid, -- process
    CASE
        WHEN waiting.pid IS NULL
            THEN coalesce(
                nullif(info.job, ''),
                CASE WHEN files.state = 'trace' THEN format('traces, {}', files.side) END,
                ''
            )
        WHEN waiting.rank IS NOT NULL AND waiting.job IS NOT NULL THEN waiting.job
        ELSE concat_ws(' ', 'recording', ranks.recording, 'parent', waiting.ppid)
    END AS job -- the same text for all ranks of a job
FROM ranks
LEFT JOIN _dist_waiting AS waiting ON waiting.recording = ranks.recording AND waiting.pid = ranks.pid
LEFT JOIN _process_info AS info ON info.recording = ranks.recording AND info.pid = ranks.pid
LEFT JOIN files ON files.recording = ranks.recording
