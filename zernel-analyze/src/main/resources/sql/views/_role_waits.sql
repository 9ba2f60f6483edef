-- Waits for data that a role tells, by threads: their functions, and how much of them was off the CPU.
--
-- Only time off the CPU of at least the recorder's threshold is recorded, so that is a lower bound.
--
-- needs: _role_calls, events
CREATE TABLE _role_waits AS
WITH
    waits AS (
        SELECT recording, pid, tid, name, start_ns, end_ns
        FROM _role_calls
        WHERE role = 'data_wait' AND end_ns > start_ns
    ),
    threads AS (
        SELECT
            recording,
            pid,
            tid,
            string_agg(DISTINCT name, ', ' ORDER BY name) AS names,
            sum(end_ns - start_ns) AS wait_ns
        FROM waits
        GROUP BY ALL
    ),
    gone AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            events.ts_ns,
            events.dur_ns - coalesce(events.runq_ns, 0) AS off_ns
        FROM events
        JOIN threads
            ON threads.recording = events.recording
            AND threads.pid = events.pid
            AND threads.tid = events.tid
        WHERE events.kind = 'sched' AND events.dur_ns IS NOT NULL
    ),
    off AS (
        SELECT gone.recording, gone.pid, gone.tid, sum(gone.off_ns) AS off_ns
        FROM gone
        ASOF JOIN waits
            ON waits.recording = gone.recording
            AND waits.pid = gone.pid
            AND waits.tid = gone.tid
            AND waits.start_ns <= gone.ts_ns
        WHERE gone.ts_ns < waits.end_ns
        GROUP BY ALL
    )
SELECT
    threads.recording, -- recording
    threads.pid, -- process
    threads.tid, -- thread
    threads.names, -- the functions or regions with the role data_wait
    coalesce(off.off_ns, 0) / threads.wait_ns AS asleep_share -- share of the wait asleep or blocked, 0 to 1
FROM threads
LEFT JOIN off ON off.recording = threads.recording AND off.pid = threads.pid AND off.tid = threads.tid
