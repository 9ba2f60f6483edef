-- Steps of the ranks of a job, with a number that is the same in all of them.
--
-- Ranks call collectives of NCCL, or wait in torch.distributed without it, as with gloo. Of which job they are,
-- `_rank_jobs` says. Where it is not known who has which rank, they are numbered by process.
--
-- Steps are those of the same number, from the first one that all ranks have; on one machine those that lie beside each
-- other, because recording may have begun between two of them.
--
-- needs: _rank_jobs, _dist_waiting, _collective_calls, _process_info, steps, _step_counts, recording_clocks
-- needs: clock_shifts
CREATE TABLE _job_steps AS
WITH
    started AS (
        SELECT waiting.recording, waiting.pid, waiting.waits, waiting.rank, waiting.world_size, jobs.job
        FROM _dist_waiting AS waiting
        JOIN _rank_jobs AS jobs ON jobs.recording = waiting.recording AND jobs.pid = waiting.pid
        SEMI JOIN _step_counts AS counts ON counts.recording = waiting.recording AND counts.pid = waiting.pid
    ),
    -- A rank that was started again is the process that did more.
    alone AS (
        SELECT started.*
        FROM started
        QUALIFY rank IS NULL
            OR row_number() OVER (PARTITION BY job, rank ORDER BY waits DESC, recording, pid) = 1
    ),
    waiting AS (
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
    ),
    calling AS (
        SELECT recording, pid, arg_max(rank, nranks) AS rank, max(nranks) AS nranks
        FROM _collective_calls
        WHERE nranks > 1
        GROUP BY recording, pid
    ),
    ranks AS (
        SELECT
            recording,
            pid,
            -dense_rank() OVER (ORDER BY job) AS job,
            known,
            CASE WHEN known THEN rank ELSE place END AS rank,
            CASE WHEN known THEN greatest(coalesce(world_size, 0), members) ELSE members END AS nranks
        FROM waiting
        WHERE members > 1
        UNION ALL
        SELECT
            calling.recording,
            calling.pid,
            dense_rank() OVER (ORDER BY jobs.job) - 1,
            TRUE,
            coalesce(TRY_CAST(info.rank AS BIGINT), calling.rank),
            greatest(coalesce(TRY_CAST(info.world_size AS BIGINT), 0), calling.nranks)
        FROM calling
        JOIN _rank_jobs AS jobs ON jobs.recording = calling.recording AND jobs.pid = calling.pid
        LEFT JOIN _process_info AS info ON info.recording = calling.recording AND info.pid = calling.pid
    ),
    spans AS (
        SELECT
            ranks.job,
            ranks.rank,
            ranks.nranks,
            ranks.known,
            steps.recording,
            steps.pid,
            steps.tid,
            steps.step,
            steps.step_kind,
            steps.start_ns,
            steps.end_ns,
            shifts.shift_ns,
            clocks.clock,
            count(*) OVER (PARTITION BY steps.recording, steps.pid) AS steps
        FROM steps
        JOIN _step_counts AS counts
            ON counts.recording = steps.recording
            AND counts.pid = steps.pid
            AND counts.tid = steps.tid
        JOIN ranks ON ranks.recording = steps.recording AND ranks.pid = steps.pid
        JOIN recording_clocks AS clocks ON clocks.recording = steps.recording
        JOIN clock_shifts AS shifts ON shifts.recording = steps.recording
    ),
    firsts AS (
        SELECT job, min(rank) AS rank
        FROM spans
        GROUP BY ALL
    ),
    reference AS (
        SELECT spans.job, spans.step, spans.steps, spans.clock, spans.start_ns + spans.shift_ns AS begin_ns
        FROM spans
        JOIN firsts ON firsts.job = spans.job AND firsts.rank = spans.rank
    ),
    numbers AS (
        SELECT
            spans.recording,
            spans.pid,
            CASE
                WHEN any_value(spans.clock) <> any_value(reference.clock)
                    AND any_value(spans.steps) = any_value(reference.steps)
                    THEN 0
                ELSE mode(reference.step - spans.step ORDER BY reference.step - spans.step)
            END AS ahead
        FROM (SELECT *, (start_ns + end_ns) // 2 + shift_ns AS middle_ns FROM spans) AS spans
        ASOF JOIN reference
            ON reference.job = spans.job
            AND reference.begin_ns <= spans.middle_ns
        GROUP BY spans.recording, spans.pid
    )
SELECT
    spans.job, -- number of the job, from 0; -1, -2, ... for jobs without NCCL
    spans.step + numbers.ahead AS number, -- number of the step, the same in all ranks
    spans.rank, -- the rank
    spans.nranks, -- ranks of the job
    spans.known, -- whether its ranks are known, else they are numbered by process
    spans.recording, -- its recording
    spans.pid, -- its process
    spans.tid, -- its training thread
    spans.step, -- number of the step in this process
    spans.step_kind, -- warmup, train, evaluation, checkpoint or profiler
    spans.clock, -- its machine
    spans.start_ns, -- [ns] when the step began, by its own clock
    spans.end_ns, -- [ns] when it ended
    spans.shift_ns -- [ns] to add to these for the clock of the first machine
FROM spans
JOIN numbers ON numbers.recording = spans.recording AND numbers.pid = spans.pid
