-- From when to when each process trained, without warm-up: the time that means per step are of.
--
-- needs: steps, _step_counts
CREATE VIEW _trained AS
SELECT
    steps.recording, -- recording
    steps.pid, -- process
    steps.tid, -- its training thread with the most steps
    count(*) AS steps, -- steps
    min(steps.start_ns) AS start_ns, -- [ns] begin of the first
    max(steps.end_ns) AS end_ns, -- [ns] end of the last
    avg(steps.dur_ns) AS step_ns, -- [ns] mean step
    count(*) FILTER (steps.step_kind = 'train') AS train_steps, -- steps of kind train
    avg(steps.dur_ns) FILTER (steps.step_kind = 'train') AS train_ns, -- [ns] mean of those; NULL without one
    avg(steps.nccl_collective_ns) AS nccl_collective_ns -- [ns] of it in the phase NcclCollective
FROM steps
JOIN _step_counts AS counts
    ON counts.recording = steps.recording
    AND counts.pid = steps.pid
    AND counts.tid = steps.tid
WHERE steps.step_kind <> 'warmup'
GROUP BY steps.recording, steps.pid, steps.tid
