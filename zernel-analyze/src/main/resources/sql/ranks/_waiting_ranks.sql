-- Ranks of jobs that wait in torch.distributed and do not use NCCL, such as those of gloo.
--
-- Ranks are of one job where they meet at the same address, by what they were started with. Where that is not known,
-- the processes that one parent started are: then who has which rank is not known, and they are numbered by process.
--
-- needs: _rare_events, _process_info, _step_counts
CREATE TABLE _waiting_ranks AS
WITH
    waiting AS (
        SELECT waits.recording, waits.pid, count(*) AS waits
        FROM _rare_events AS waits
        JOIN _step_counts AS counts ON counts.recording = waits.recording AND counts.pid = waits.pid
        WHERE waits.kind = 'dist_wait'
            AND waits.dur_ns > 0
            AND (waits.recording, waits.pid) NOT IN (SELECT recording, pid FROM _rare_events WHERE kind = 'nccl')
        GROUP BY ALL
    ),
    started AS (
        SELECT
            waiting.recording,
            waiting.pid,
            waiting.waits,
            TRY_CAST(info.rank AS BIGINT) AS rank,
            TRY_CAST(info.world_size AS BIGINT) AS world_size,
            CASE
                WHEN TRY_CAST(info.rank AS BIGINT) IS NOT NULL AND info.job <> '' THEN info.job
                ELSE concat_ws(' ', 'recording', waiting.recording, 'parent', info.ppid)
            END AS job
        FROM waiting
        LEFT JOIN _process_info AS info ON info.recording = waiting.recording AND info.pid = waiting.pid
    ),
    -- A rank that was started again is the process that did more.
    alone AS (
        SELECT started.*
        FROM started
        QUALIFY rank IS NULL
            OR row_number() OVER (PARTITION BY job, rank ORDER BY waits DESC, recording, pid) = 1
    ),
    numbered AS (
        SELECT
            recording,
            pid,
            job,
            bool_and(rank IS NOT NULL) OVER (PARTITION BY job) AS known,
            rank,
            world_size,
            row_number() OVER (PARTITION BY job ORDER BY recording, pid) - 1 AS place,
            count(*) OVER (PARTITION BY job) AS members
        FROM alone
    )
SELECT
    recording, -- recording
    pid, -- process
    -dense_rank() OVER (ORDER BY job) AS comm_id, -- number of the job, -1, -2, ... as for communicators
    known, -- whether its ranks are known
    CASE WHEN known THEN rank ELSE place END AS rank, -- its rank; a number by process where that is not known
    CASE WHEN known THEN greatest(coalesce(world_size, 0), members) ELSE members END AS nranks -- ranks of the job
FROM numbered
WHERE members > 1
