-- Launches of kernels and of CUDA graphs: when each was enqueued and how long that took. Outermost calls only.
--
-- Launches of kernels are those in windows of detail, where a recording has such.
--
-- needs: events, _rare_events, _detail, _window_buckets
CREATE VIEW _launched AS
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    FALSE AS graph, -- whether it is a launch of a CUDA graph
    ts_ns AS at_ns, -- [ns] when it was called
    dur_ns -- [ns] time to enqueue; NULL where its end was not recorded
FROM events
WHERE kind = 'cuda_launch'
    AND count IS NULL
    AND coalesce(depth, 0) = 0
    AND recording NOT IN (SELECT recording FROM _detail WHERE kind = 'cuda_launch')
UNION ALL
SELECT events.recording, events.pid, events.tid, FALSE, events.ts_ns, events.dur_ns
FROM events
JOIN _window_buckets AS windows
    ON windows.recording = events.recording
    AND windows.kind = 'cuda_launch'
    AND windows.bucket = events.ts_ns >> 30
WHERE events.kind = 'cuda_launch'
    AND events.count IS NULL
    AND coalesce(events.depth, 0) = 0
    AND events.ts_ns >= windows.start_ns
    AND events.ts_ns <= windows.end_ns
UNION ALL
SELECT recording, pid, tid, TRUE, ts_ns, dur_ns
FROM _rare_events
WHERE kind = 'cuda_graph' AND name LIKE '%GraphLaunch%'
