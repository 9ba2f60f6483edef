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
-- whole step, so clocks do not matter, nor which call waits.
--
-- needs: _job_steps, _step_dist_waits
CREATE TABLE _wait_arrivals AS
SELECT
    steps.job AS comm_id, -- number of the job, -1, -2, ... as for communicators
    steps.number, -- number of the step, the same in all ranks
    steps.rank, -- the rank
    steps.nranks, -- ranks of the job
    steps.known, -- whether its ranks are known, else they are numbered by process
    steps.recording, -- its recording
    steps.pid, -- its process
    steps.step, -- number of the step in this process
    steps.clock, -- its machine
    waits.ts_ns, -- [ns] when its longest wait of the step began, by its own clock
    waits.wait_ns, -- [ns] blocked in the step
    CAST(waits.wait_ns - min(waits.wait_ns) OVER same_step AS BIGINT)
        AS late_ns, -- [ns] of it, longer than the rank that waits least: for late ranks, the rest is communication
    CAST(max(steps.end_ns + steps.shift_ns) OVER same_step - waits.wait_ns AS BIGINT)
        AS at_ns -- [ns] when it came, as if all had waited in one call at the end of the step
FROM _job_steps AS steps
JOIN _step_dist_waits AS waits
    ON waits.recording = steps.recording
    AND waits.pid = steps.pid
    AND waits.step = steps.step
WINDOW same_step AS (PARTITION BY steps.job, steps.number)
