-- When each rank came to the others in each step, by how long it waits for them in torch.distributed.
--
-- The rank that waits least came last: all go on together when the slowest has come. What is compared are waits of a
-- whole step, so clocks do not matter, nor which call waits. Steps are those of the same number, from the first one
-- that all ranks have; on one machine those that lie beside each other, because recording may have begun between two
-- of them.
--
-- needs: _waiting_ranks, _rare_events, _step_counts, steps, recording_clocks
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
    ),
    waits AS (
        SELECT
            spans.recording,
            spans.pid,
            spans.step,
            sum(calls.dur_ns) AS wait_ns,
            arg_max(calls.ts_ns, calls.dur_ns) AS ts_ns
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
        GROUP BY ALL
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
    CAST(waits.wait_ns AS BIGINT) AS wait_ns, -- [ns] blocked in the step
    CAST(waits.wait_ns - min(waits.wait_ns) OVER same_step AS BIGINT)
        AS late_ns, -- [ns] of it, longer than the rank that waits least: for late ranks, the rest is communication
    CAST(max(spans.until_ns) OVER same_step - waits.wait_ns AS BIGINT)
        AS at_ns -- [ns] when it came, as if all had waited in one call at the end of the step
FROM spans
JOIN waits ON waits.recording = spans.recording AND waits.pid = spans.pid AND waits.step = spans.step
JOIN shifts ON shifts.recording = spans.recording AND shifts.pid = spans.pid
WINDOW same_step AS (PARTITION BY spans.comm_id, spans.step + shifts.shift)
