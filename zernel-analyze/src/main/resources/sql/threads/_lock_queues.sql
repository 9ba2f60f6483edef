-- Waits of threads that stand in line for a lock, in processes without steps. They hand it to each other.
--
-- A lock that threads compete for is told by who ends the waits: threads that wait for it themselves at other times.
-- Who waits for work is woken by one who brings it, and does not wait for the same. Threads that meet at a barrier, as
-- those of OpenMP, look the same, and so do threads of a pool that wait for its next task, so only waits below Python
-- code of the user's own count, and those for Python's own lock (`gil`).
--
-- needs: events, processes, _python_states, stack_events, stack_lines
CREATE TABLE _lock_queues AS
WITH
    constants AS (
        SELECT
            20 AS min_waits, -- for a lock
            0.8 AS own_share, -- of them, ended by threads that wait for it themselves
            0.9 AS python_share -- of those of which the stack is known, below Python code of the user's own
    ),
    waits AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            events.addr,
            events.ts_ns AS from_ns,
            events.ts_ns + events.dur_ns AS until_ns,
            states.recording IS NOT NULL AS gil
        FROM events
        JOIN processes
            ON processes.recording = events.recording
            AND processes.pid = events.pid
            AND processes.role = 'other'
        LEFT JOIN _python_states AS states
            ON states.recording = events.recording
            AND states.from_addr <= events.addr
            AND states.until_addr > events.addr
        WHERE events.kind = 'wait' AND events.name = 'futex' AND events.addr IS NOT NULL AND events.dur_ns > 0
    ),
    switches AS (
        SELECT recording, pid, tid, ts_ns AS start_ns, waker_tid
        FROM events
        WHERE kind = 'sched' AND waker_tid IS NOT NULL
    ),
    woken AS (
        SELECT
            waits.*,
            CASE WHEN switches.start_ns >= waits.from_ns THEN switches.waker_tid END AS waker_tid
        FROM waits
        ASOF LEFT JOIN switches
            ON switches.recording = waits.recording
            AND switches.pid = waits.pid
            AND switches.tid = waits.tid
            AND switches.start_ns <= waits.until_ns
    ),
    waiters AS (
        SELECT DISTINCT recording, pid, addr, tid
        FROM waits
    ),
    python AS (
        SELECT waits.recording, waits.pid, waits.addr
        FROM waits
        CROSS JOIN constants
        JOIN stack_events AS stacks
            ON stacks.recording = waits.recording
            AND stacks.tid = waits.tid
            AND stacks.start_ns = waits.from_ns
        JOIN stack_lines AS lines ON lines.id = stacks.id
        GROUP BY waits.recording, waits.pid, waits.addr
        HAVING count(CASE WHEN lines.own THEN 1 END) >= any_value(constants.python_share) * count(*)
    ),
    locks AS (
        SELECT woken.recording, woken.pid, woken.addr
        FROM woken
        CROSS JOIN constants
        LEFT JOIN waiters
            ON waiters.recording = woken.recording
            AND waiters.pid = woken.pid
            AND waiters.addr = woken.addr
            AND waiters.tid = woken.waker_tid
        LEFT JOIN python
            ON python.recording = woken.recording
            AND python.pid = woken.pid
            AND python.addr = woken.addr
        GROUP BY woken.recording, woken.pid, woken.addr
        HAVING any_value(woken.gil)
            OR (count(*) >= any_value(constants.min_waits)
                AND count(DISTINCT woken.tid) > 1
                AND count(python.addr) > 0
                AND count(waiters.tid) >= any_value(constants.own_share) * count(*))
    )
SELECT
    woken.recording, -- recording
    woken.pid, -- process
    woken.tid, -- thread that waits
    woken.from_ns, -- [ns] when it began to wait
    woken.until_ns, -- [ns] when it had the lock
    woken.waker_tid, -- thread that let go; NULL where that is not known
    CASE WHEN woken.gil THEN 'gil' ELSE 'line' END AS kind, -- gil: Python's lock; line: one of the program's own
    CASE WHEN NOT woken.gil THEN woken.addr END AS lock -- address of its futex; NULL for Python's, which has several
FROM woken
JOIN locks ON locks.recording = woken.recording AND locks.pid = woken.pid AND locks.addr = woken.addr
