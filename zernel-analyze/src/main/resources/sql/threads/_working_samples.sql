-- Samples on a CPU of the threads that do the work of processes without steps, while they work.
--
-- needs: _working_threads, stack_events
CREATE VIEW _working_samples AS
SELECT
    events.recording, -- recording
    events.pid, -- process
    events.tid, -- thread
    threads.threads, -- how many threads do its work
    threads.wall_ns, -- [ns] that all of them work, together
    events.id, -- stack
    events.start_ns, -- [ns] when
    events.ns -- [ns] that it stands for
FROM stack_events AS events
JOIN _working_threads AS threads
    ON threads.recording = events.recording
    AND threads.pid = events.pid
    AND threads.tid = events.tid
    AND threads.work_ns <= events.start_ns
    AND threads.until_ns >= events.end_ns
WHERE events.kind = 'sample' AND events.ns > 0
