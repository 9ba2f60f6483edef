-- Phases of each process: time of all its training threads together, as zerneld accumulates it per pid.
--
-- needs: _segments
CREATE VIEW process_phases AS
SELECT
    recording, -- recording
    pid, -- process
    phase, -- DataLoading, GpuCompute, NcclCollective, OptimizerStep or Unknown
    CAST(sum(dur_ns) AS BIGINT) AS total_ns, -- [ns] wall time in the phase, over the threads
    sum(dur_ns) / sum(sum(dur_ns)) OVER (PARTITION BY recording, pid) AS fraction -- share of all its phases, 0 to 1
FROM _segments
GROUP BY recording, pid, phase
ORDER BY recording, pid, phase
