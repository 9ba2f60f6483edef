-- Steps of each process in stretches of 34 ms (2^25 ns): a row for each stretch that a step has a part of.
--
-- The steps of an event are those of its process in the stretch `ts_ns >> 25`, of which the times tell the one. Joining
-- so costs less than an ASOF join, which sorts all events. Of each process, the thread with the most steps.
--
-- needs: steps, _step_counts
CREATE TABLE _step_stretches AS
SELECT
    steps.recording, -- recording
    steps.pid, -- process
    steps.tid, -- training thread
    steps.step, -- number of the step
    steps.start_ns, -- [ns] when it began
    steps.end_ns, -- [ns] when it ended
    steps.step_kind, -- warmup, train, evaluation or checkpoint
    unnest(range(steps.start_ns >> 25, (steps.end_ns >> 25) + 1)) AS stretch -- number of the stretch
FROM steps
JOIN _step_counts AS counts
    ON counts.recording = steps.recording
    AND counts.pid = steps.pid
    AND counts.tid = steps.tid
