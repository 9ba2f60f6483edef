-- What a training thread does without launching and in no recorded call, for each step whose launches are known.
--
-- needs: _host_stretches, step_work
CREATE TABLE _host_work AS
WITH
    sums AS (
        SELECT recording, pid, tid, step, sum(end_ns - start_ns) AS all_ns, sum(off_cpu_ns) AS off_cpu_ns
        FROM _host_stretches
        GROUP BY ALL
    )
SELECT
    work.recording, -- recording
    work.pid, -- process
    work.tid, -- training thread
    work.step, -- number of the step
    work.start_ns, -- [ns] start of the step
    work.end_ns, -- [ns] its end
    coalesce(sums.all_ns - sums.off_cpu_ns, 0) AS on_cpu_ns, -- [ns] on a CPU in such stretches
    coalesce(sums.off_cpu_ns, 0) AS off_cpu_ns -- [ns] in them off the CPU
FROM step_work AS work
LEFT JOIN sums
    ON sums.recording = work.recording
    AND sums.pid = work.pid
    AND sums.tid = work.tid
    AND sums.step = work.step
WHERE work.step_kind = 'train' AND work.launches + work.graph_launches > 0;
