-- Launches of kernels and of CUDA graphs: when each was enqueued and how long that took. Outermost calls only.
--
-- needs: events, _rare_events
CREATE VIEW _launched AS
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    FALSE AS graph, -- whether it is a launch of a CUDA graph
    ts_ns AS at_ns, -- [ns] when it was called
    coalesce(dur_ns, 0) AS dur_ns -- [ns] time to enqueue
FROM events
WHERE kind = 'cuda_launch' AND count IS NULL AND coalesce(depth, 0) = 0
UNION ALL
SELECT recording, pid, tid, TRUE, ts_ns, coalesce(dur_ns, 0)
FROM _rare_events
WHERE kind = 'cuda_graph' AND name LIKE '%GraphLaunch%'
