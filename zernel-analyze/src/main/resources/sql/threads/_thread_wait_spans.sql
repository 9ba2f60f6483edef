-- Times in which training threads were blocked on another thread of their process, within steps of kind train.
--
-- `gil` is Python's lock. It is a part of the interpreter's state, and the recorder says where that is. Where it does
-- not, the lock is told by its waits: who waits for it asks for it each 5 ms (sys.getswitchinterval), so that these end
-- by time-out, the shortest of them after 5 ms: on a loaded machine a thread runs later than its time-out. It is a
-- condition variable, and those of glibc have two futexes, side by side, that take turns. Where both time out like
-- this, in any thread of the process, all waits on them are for the lock: also those that end by a wake, as the holder
-- lets go by itself when it writes to a file or computes in PyTorch. A single futex is the lock where most time on it
-- goes by in such time-outs.
-- `pool` is a thread that the training thread waits for inside backward and the optimizer, too, such as those of
-- OpenMP: it works for it. A thread that runs Python code is none.
-- Anything else is a `lock`, a queue or a join.
-- Waits for data workers, the GPU and collectives are left out, and with CUDA so is backward, which other threads run.
-- Where the recording does not say who woke a thread, only time in no recorded call counts.
--
-- needs: _off_cpu_steps, training_threads, _launched, events, _python_states, _python_threads
CREATE TABLE _thread_wait_spans AS
WITH
    constants AS (
        SELECT
            0.5 AS gil_share, -- of the time on a single futex, in waits that end by time-out
            5000000 AS interval_ns, -- [ns] time-out of them
            0.1 AS spread, -- by which the shortest of them differ from it
            20000000 AS max_wait_ns, -- [ns] longest of them
            20 AS min_waits, -- of such waits
            0.25 AS pool_share -- of the waits that a thread ends, inside calls of PyTorch
    ),
    waits AS (
        SELECT spans.*
        FROM _off_cpu_steps AS spans
        JOIN training_threads AS threads
            ON threads.recording = spans.recording
            AND threads.pid = spans.pid
            AND threads.tid = spans.tid
        WHERE spans.state = 'thread'
            AND spans.step_kind = 'train'
            AND (spans.part <> 'data_wait' OR threads.loads_in_process)
            AND (spans.part <> 'backward' OR (spans.recording, spans.pid) NOT IN (SELECT recording, pid FROM _launched))
    ),
    time_outs AS (
        SELECT
            events.recording,
            events.pid,
            events.addr,
            count(*) AS waits
        FROM events
        CROSS JOIN constants
        ANTI JOIN (SELECT recording FROM _python_states WHERE every_one) AS known ON known.recording = events.recording
        WHERE events.kind = 'wait'
            AND events.status = -110
            AND events.addr IS NOT NULL
            AND events.dur_ns <= constants.max_wait_ns
        GROUP BY events.recording, events.pid, events.addr
        HAVING abs(quantile_cont(events.dur_ns, 0.1) - any_value(constants.interval_ns))
            <= any_value(constants.spread * constants.interval_ns)
    ),
    sums AS (
        SELECT
            waits.recording,
            waits.pid,
            waits.addr,
            sum(waits.dur_ns) AS dur_ns,
            sum(CASE WHEN waits.status = -110 AND waits.dur_ns <= constants.max_wait_ns THEN waits.dur_ns ELSE 0 END)
                AS timed_out_ns
        FROM waits
        CROSS JOIN constants
        GROUP BY waits.recording, waits.pid, waits.addr
    ),
    -- The two futexes of a condition variable lie in the same eight bytes.
    gils AS (
        SELECT sums.recording, sums.pid, sums.addr
        FROM sums
        JOIN (
            SELECT
                *,
                count(*) OVER (PARTITION BY recording, pid, addr // 8) AS futexes,
                sum(waits) OVER (PARTITION BY recording, pid) AS all_waits
            FROM time_outs
        ) AS times ON times.recording = sums.recording AND times.pid = sums.pid AND times.addr = sums.addr
        CROSS JOIN constants
        WHERE times.all_waits >= constants.min_waits
            AND (times.futexes = 2 OR sums.timed_out_ns >= constants.gil_share * sums.dur_ns)
        UNION
        SELECT sums.recording, sums.pid, sums.addr
        FROM sums
        JOIN _python_states AS states
            ON states.recording = sums.recording
            AND states.from_addr <= sums.addr
            AND states.until_addr > sums.addr
    ),
    pools AS (
        SELECT waits.recording, waits.pid, waits.tid, waits.waker_tid
        FROM waits
        LEFT JOIN gils ON gils.recording = waits.recording AND gils.pid = waits.pid AND gils.addr = waits.addr
        ANTI JOIN _python_threads AS threads
            ON threads.recording = waits.recording
            AND threads.pid = waits.pid
            AND threads.tid = waits.waker_tid
        CROSS JOIN constants
        WHERE gils.addr IS NULL AND waits.waker_tid IS NOT NULL
        GROUP BY waits.recording, waits.pid, waits.tid, waits.waker_tid
        HAVING sum(CASE WHEN waits.part IN ('unknown', 'forward', 'data_wait') THEN 0 ELSE waits.dur_ns END)
            >= any_value(constants.pool_share) * sum(waits.dur_ns)
    ),
    told AS (
        SELECT recording, pid, tid, count(waker_tid) > 0 AS by_wakers
        FROM waits
        GROUP BY ALL
    ),
    classed AS (
        SELECT
            waits.recording,
            waits.pid,
            waits.tid,
            waits.start_ns AS from_ns,
            waits.start_ns + waits.dur_ns AS until_ns,
            waits.blocked_ns,
            waits.waker_tid,
            CASE
                WHEN gils.addr IS NOT NULL THEN 'gil'
                WHEN pools.waker_tid IS NOT NULL THEN 'pool'
                WHEN waits.waker_tid IS NOT NULL OR waits.part = 'unknown' THEN 'lock'
                WHEN told.by_wakers AND waits.status = 0 THEN 'lock'
            END AS kind
        FROM waits
        JOIN told ON told.recording = waits.recording AND told.pid = waits.pid AND told.tid = waits.tid
        LEFT JOIN gils ON gils.recording = waits.recording AND gils.pid = waits.pid AND gils.addr = waits.addr
        LEFT JOIN pools
            ON pools.recording = waits.recording
            AND pools.pid = waits.pid
            AND pools.tid = waits.tid
            AND pools.waker_tid = waits.waker_tid
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    from_ns, -- [ns] when it began to wait
    until_ns, -- [ns] when it ran again
    blocked_ns, -- [ns] of it, blocked
    waker_tid, -- thread that ended the wait; NULL where that is not known
    kind -- gil, pool or lock
FROM classed
WHERE kind IS NOT NULL
