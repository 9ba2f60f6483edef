-- Launches of kernels and of CUDA graphs: when each was enqueued and how long that took. Outermost calls only.
--
-- needs: events
CREATE TABLE _launched AS
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    kind = 'cuda_graph' AS graph, -- whether it is a launch of a CUDA graph
    ts_ns AS at_ns, -- [ns] when it was called
    coalesce(dur_ns, 0) AS dur_ns -- [ns] time to enqueue
FROM events
WHERE kind IN ('cuda_launch', 'cuda_graph')
    AND coalesce(depth, 0) = 0
    AND (kind = 'cuda_graph' OR count IS NULL)
    AND (kind = 'cuda_launch' OR name LIKE '%GraphLaunch%')
