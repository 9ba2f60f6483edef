-- Ranks of jobs that wait in torch.distributed and do not use NCCL, such as those of gloo.
--
-- Ranks are of one job where they meet at the same address, by what they were started with. Where that is not known,
-- the processes that one parent started are: then who has which rank is not known, and they are numbered by process.
--
-- needs: _dist_waiting, _step_counts
CREATE TABLE _waiting_ranks AS
WITH
    started AS (
        SELECT
            recording,
            pid,
            waits,
            rank,
            world_size,
            CASE
                WHEN rank IS NOT NULL AND job IS NOT NULL THEN job
                ELSE concat_ws(' ', 'recording', recording, 'parent', ppid)
            END AS job
        FROM _dist_waiting
        SEMI JOIN _step_counts AS counts
            ON counts.recording = _dist_waiting.recording
            AND counts.pid = _dist_waiting.pid
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
WHERE members > 1;

-- How long each process waits for others in each step, in torch.distributed without NCCL.
--
-- needs: _dist_waiting, _rare_events, _step_counts, steps
-- digest: kept
CREATE TABLE _step_dist_waits AS
WITH
    spans AS (
        SELECT steps.recording, steps.pid, steps.step, steps.start_ns, steps.end_ns
        FROM steps
        JOIN _step_counts AS counts
            ON counts.recording = steps.recording
            AND counts.pid = steps.pid
            AND counts.tid = steps.tid
        SEMI JOIN _dist_waiting AS ranks ON ranks.recording = steps.recording AND ranks.pid = steps.pid
    )
SELECT
    spans.recording, -- recording
    spans.pid, -- process
    spans.step, -- number of the step
    CAST(sum(calls.dur_ns) AS BIGINT) AS wait_ns, -- [ns] blocked in it
    arg_max(calls.ts_ns, calls.dur_ns) AS ts_ns -- [ns] when the longest wait began
FROM (
    SELECT recording, pid, ts_ns, dur_ns
    FROM _rare_events
    WHERE kind = 'dist_wait' AND dur_ns > 0
) AS calls
ASOF JOIN spans
    ON spans.recording = calls.recording
    AND spans.pid = calls.pid
    AND spans.start_ns <= calls.ts_ns
WHERE calls.ts_ns < spans.end_ns
GROUP BY ALL;

-- When each rank came to the others in each step, by how long it waits for them in torch.distributed.
--
-- The rank that waits least came last: all go on together when the slowest has come. What is compared are waits of a
-- whole step, so clocks do not matter, nor which call waits. Steps are those of the same number, from the first one
-- that all ranks have; on one machine those that lie beside each other, because recording may have begun between two
-- of them.
--
-- needs: _waiting_ranks, _step_dist_waits, _step_counts, steps, recording_clocks
CREATE TABLE _wait_arrivals AS
WITH
    spans AS (
        SELECT
            ranks.comm_id,
            ranks.rank,
            ranks.nranks,
            ranks.known,
            steps.recording,
            steps.pid,
            steps.step,
            steps.start_ns,
            steps.end_ns,
            steps.start_ns + clocks.shift_ns AS begin_ns,
            steps.end_ns + clocks.shift_ns AS until_ns,
            clocks.clock,
            count(*) OVER (PARTITION BY steps.recording, steps.pid) AS steps
        FROM steps
        JOIN _step_counts AS counts
            ON counts.recording = steps.recording
            AND counts.pid = steps.pid
            AND counts.tid = steps.tid
        JOIN _waiting_ranks AS ranks ON ranks.recording = steps.recording AND ranks.pid = steps.pid
        JOIN recording_clocks AS clocks ON clocks.recording = steps.recording
    ),
    firsts AS (
        SELECT comm_id, min(rank) AS rank
        FROM spans
        GROUP BY ALL
    ),
    reference AS (
        SELECT spans.comm_id, spans.step, spans.steps, spans.clock, spans.begin_ns
        FROM spans
        JOIN firsts ON firsts.comm_id = spans.comm_id AND firsts.rank = spans.rank
    ),
    shifts AS (
        SELECT
            spans.recording,
            spans.pid,
            CASE
                WHEN any_value(spans.clock) <> any_value(reference.clock)
                    AND any_value(spans.steps) = any_value(reference.steps)
                    THEN 0
                ELSE mode(reference.step - spans.step)
            END AS shift
        FROM (SELECT *, (begin_ns + until_ns) // 2 AS middle_ns FROM spans) AS spans
        ASOF JOIN reference
            ON reference.comm_id = spans.comm_id
            AND reference.begin_ns <= spans.middle_ns
        GROUP BY spans.recording, spans.pid
    )
SELECT
    spans.comm_id, -- number of the job, -1, -2, ...
    spans.step + shifts.shift AS number, -- number of the step, the same in all ranks
    spans.rank, -- the rank
    spans.nranks, -- ranks of the job
    spans.known, -- whether its ranks are known, else they are numbered by process
    spans.recording, -- its recording
    spans.pid, -- its process
    spans.step, -- number of the step in this process
    spans.clock, -- its machine
    waits.ts_ns, -- [ns] when its longest wait of the step began, by its own clock
    waits.wait_ns, -- [ns] blocked in the step
    CAST(waits.wait_ns - min(waits.wait_ns) OVER same_step AS BIGINT)
        AS late_ns, -- [ns] of it, longer than the rank that waits least: for late ranks, the rest is communication
    CAST(max(spans.until_ns) OVER same_step - waits.wait_ns AS BIGINT)
        AS at_ns -- [ns] when it came, as if all had waited in one call at the end of the step
FROM spans
JOIN _step_dist_waits AS waits
    ON waits.recording = spans.recording
    AND waits.pid = spans.pid
    AND waits.step = spans.step
JOIN shifts ON shifts.recording = spans.recording AND shifts.pid = spans.pid
WINDOW same_step AS (PARTITION BY spans.comm_id, spans.step + shifts.shift)
