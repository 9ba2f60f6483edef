-- When the steps of each process were: of its thread with the most steps, as spans for `in_spans`.
--
-- needs: steps, _step_counts
CREATE TABLE _step_spans AS
SELECT
    steps.recording, -- recording
    steps.pid, -- process
    steps.tid, -- training thread
    steps.step, -- number of the step
    steps.start_ns AS from_ns, -- [ns] when it began
    steps.end_ns AS until_ns, -- [ns] when it ended
    steps.step_kind = 'train' AS trains, -- whether it is of kind train
    steps.step_kind = 'train'
        OR count(*) FILTER (steps.step_kind = 'train') OVER (PARTITION BY steps.recording, steps.pid) = 0
        AS steady, -- whether numbers per step are of it: of kind train, or any where there is none
    steps.detailed -- whether detail was recorded all through it
FROM steps
JOIN _step_counts AS counts
    ON counts.recording = steps.recording
    AND counts.pid = steps.pid
    AND counts.tid = steps.tid
