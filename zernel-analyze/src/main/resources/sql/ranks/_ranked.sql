-- Processes that may be ranks of a job: they call collectives of NCCL, or wait for others in torch.distributed.
--
-- Of a profiler's trace it is not known on which communicators; any call of NCCL counts.
--
-- needs: _collective_calls, _dist_waiting, _rare_events, files
CREATE TABLE _ranked AS
SELECT
    recording, -- recording
    pid -- process
FROM _collective_calls
WHERE nranks > 1
UNION
SELECT recording, pid
FROM _dist_waiting
UNION
SELECT recording, pid
FROM _rare_events
WHERE kind = 'nccl' AND recording IN (SELECT recording FROM files WHERE state = 'trace')
