-- Threads that launch kernels or CUDA graphs, also where launches were only counted.
--
-- needs: _thread_kinds, _rare_events
CREATE TABLE _launching_threads AS
SELECT
    recording, -- recording
    pid, -- process
    tid -- thread
FROM _thread_kinds
WHERE kind = 'cuda_launch'
UNION
SELECT recording, pid, tid
FROM _rare_events
WHERE kind = 'cuda_graph' AND name LIKE '%GraphLaunch%'
