-- Processes that may be ranks of a job: they call collectives of NCCL, or wait for others in torch.distributed.
--
-- needs: _collective_calls, _dist_waiting
CREATE TABLE _ranked AS
SELECT
    recording, -- recording
    pid -- process
FROM _collective_calls
WHERE nranks > 1
UNION
SELECT recording, pid
FROM _dist_waiting
