-- Processes that end the waits of training threads, or of threads that these wait for, in steps of kind train.
--
-- A training thread waits for another process itself: for what that sends, for a lock or its end. Or it waits for a
-- thread of its own process that waits for another process meanwhile, as the one of a multiprocessing.Pool that takes
-- results. Only waits of which the recorder knows who ended them.
--
-- needs: _off_cpu_steps, _thread_wait_spans, _threads, events
CREATE TABLE _waited_processes AS
WITH
    names AS (
        SELECT recording, pid, tid, arg_max(comm, events) AS comm
        FROM _threads
        GROUP BY ALL
    ),
    locks AS (
        SELECT recording, pid, tid AS waiter_tid, waker_tid AS helper_tid, from_ns, until_ns
        FROM _thread_wait_spans
        WHERE kind = 'lock' AND waker_tid IS NOT NULL
    ),
    -- The moments at which such a thread goes on.
    ends AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            events.waker_tid,
            events.ts_ns AS start_ns,
            events.ts_ns + events.dur_ns AS at_ns
        FROM events
        SEMI JOIN locks
            ON locks.recording = events.recording
            AND locks.pid = events.pid
            AND locks.helper_tid = events.tid
        WHERE events.kind = 'sched' AND events.waker_tid IS NOT NULL
    ),
    waits AS (
        SELECT recording, pid, tid, 'process' AS via, waker_tid, blocked_ns AS waited_ns
        FROM _off_cpu_steps
        WHERE is_blocked_on_process(part, state) AND step_kind = 'train' AND waker_tid IS NOT NULL
        UNION ALL
        SELECT recording, pid, waiter_tid, 'thread', waker_tid, at_ns - greatest(start_ns, from_ns)
        FROM in_spans(ends, locks)
        WHERE tid = helper_tid
    )
SELECT
    waits.recording, -- recording
    waits.pid, -- process that trains
    waits.tid, -- training thread
    waits.via, -- process: it waits itself; thread: one does that it waits for
    names.pid AS other_pid, -- process that is waited for
    names.comm AS other_comm, -- name of its thread that ended the waits
    count(*) AS waits, -- waits that it ended
    sum(waits.waited_ns) AS waited_ns -- [ns] of them, blocked
FROM waits
JOIN names ON names.recording = waits.recording AND names.tid = waits.waker_tid AND names.pid <> waits.pid
GROUP BY ALL
