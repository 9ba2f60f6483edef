-- Times in which a thread was blocked until DataLoader workers had ended, in no call that is recorded.
--
-- Of workers that are not persistent PyTorch waits for that in the last `__next__` of a pass. Where a loop leaves
-- before, or they are persistent and the loader itself is given up, it does when the iterator is deleted: that is told
-- here. Before the first `__next__` that was seen, it may be either.
--
-- needs: events, _rare_events
CREATE TABLE _worker_ends AS
SELECT
    calls.recording, -- recording
    calls.pid, -- process
    calls.tid, -- thread
    calls.start_ns, -- [ns] when it began to wait
    calls.start_ns + calls.dur_ns AS end_ns, -- [ns] when the wait ended
    calls.dur_ns -- [ns] between the two
FROM (
    SELECT recording, pid, tid, ts_ns AS start_ns, dur_ns
    FROM events
    WHERE kind = 'wait' AND dur_ns > 0 AND stack LIKE '%\_shutdown\_workers (%' ESCAPE '\'
) AS calls
ASOF JOIN (
    SELECT recording, pid, tid, ts_ns AS start_ns, ts_ns + dur_ns AS end_ns
    FROM _rare_events
    WHERE kind = 'region' AND name LIKE 'enumerate(DataLoader)#%' AND dur_ns > 0
) AS waits
    ON waits.recording = calls.recording
    AND waits.pid = calls.pid
    AND waits.tid = calls.tid
    AND waits.start_ns <= calls.start_ns
WHERE calls.start_ns >= waits.end_ns
