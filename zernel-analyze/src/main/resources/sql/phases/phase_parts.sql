-- Parts of the phases of each training thread, such as forward and backward within GpuCompute.
--
-- needs: _segments
CREATE VIEW phase_parts AS
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    phase, -- phase
    CAST(part AS VARCHAR) AS part, -- data_wait, worker_start, forward, evaluation, backward, compute, gpu_wait,
    -- collective, optimizer_step, zero_grad or unknown
    bool_or(inferred) AS inferred, -- whether it follows from its neighbours, not from a call
    CAST(sum(dur_ns) AS BIGINT) AS total_ns, -- [ns] wall time
    sum(dur_ns) / sum(sum(dur_ns)) OVER (PARTITION BY recording, pid, tid)
        AS share -- share of the thread's wall time, 0 to 1
FROM _segments
GROUP BY recording, pid, tid, phase, part
ORDER BY recording, pid, tid, phase, total_ns DESC, part
