-- GPU processes without a region that tells steps: neither `Optimizer.step` nor a DataLoader's `__next__`.
--
-- Those of which a call has such a role are left out too.
--
-- needs: _rare_events, _thread_kinds, _role_calls
CREATE TABLE _without_regions AS
WITH
    stepping AS (
        SELECT DISTINCT recording, pid
        FROM _rare_events
        WHERE kind = 'region' AND (name LIKE 'enumerate(DataLoader)#%' OR name LIKE 'Optimizer.step#%')
        UNION
        SELECT recording, pid
        FROM _role_calls
        WHERE role IN ('step', 'data_wait', 'optimizer')
    )
SELECT
    processes.recording, -- recording
    processes.pid -- process
FROM _thread_kinds AS processes
ANTI JOIN stepping ON stepping.recording = processes.recording AND stepping.pid = processes.pid
WHERE processes.kind IN ('cuda_launch', 'cuda_graph', 'backward', 'cuda_copy', 'cuda_sync', 'nccl')
GROUP BY processes.recording, processes.pid
