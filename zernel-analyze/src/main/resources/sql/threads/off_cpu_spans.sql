-- Threads whose time off the CPU is explained: training threads, and the main threads of data workers.
--
-- needs: _thread_numbers, _threads
CREATE TABLE _watched_threads AS
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    thread -- number of the training thread; NULL for a worker
FROM _thread_numbers
UNION ALL
SELECT DISTINCT threads.recording, threads.pid, threads.tid, CAST(NULL AS INTEGER)
FROM _threads AS threads
ANTI JOIN _thread_numbers AS numbers
    ON numbers.recording = threads.recording
    AND numbers.pid = threads.pid
    AND numbers.tid = threads.tid
WHERE threads.comm = 'pt_data_worker' AND threads.tid = threads.pid;

-- When training threads and data workers were off their CPU, and what each waited for.
--
-- A span is one of the scheduler's, explained by the system call around it; a call in which the scheduler was not seen
-- is a span itself. At its end a thread is *runnable* for `runq_ns`: it could run and has no CPU. Before, it is blocked
-- for what `state` says: *storage* (reads, writes, opens, page faults), a *pipe* or a *socket*, another *thread* (a
-- futex), another *process* (its end), *asleep* by itself (a sleep, or a poll of nothing), *stopped*; `unexplained`
-- where no recorded call is around it. Preempted threads are runnable for all of the span. Spans and calls below the
-- recorder's threshold are not in the recording.
--
-- needs: events, _watched_threads
CREATE TABLE off_cpu_spans AS
WITH
    constants AS (
        SELECT 50000 AS min_ns -- [ns] shorter calls hold no span, by the recorder's default threshold
    ),
    calls AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            events.ts_ns AS start_ns,
            events.ts_ns + events.dur_ns AS end_ns,
            events.kind,
            events.name,
            coalesce(events.object, events.path) AS object,
            events.addr,
            events.status,
            events.io_ns
        FROM events
        SEMI JOIN _watched_threads AS watched
            ON watched.recording = events.recording
            AND watched.pid = events.pid
            AND watched.tid = events.tid
        WHERE (events.kind IN ('wait', 'io', 'io_open')) IS TRUE AND events.dur_ns >= (SELECT min_ns FROM constants)
    ),
    switches AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            events.ts_ns AS start_ns,
            events.dur_ns,
            events.state,
            CASE
                WHEN events.state IN ('preempted', 'started') THEN events.dur_ns
                ELSE least(coalesce(events.runq_ns, 0), events.dur_ns)
            END AS runq_ns,
            events.waker_tid,
            events.other_pid,
            events.other_comm
        FROM events
        SEMI JOIN _watched_threads AS watched
            ON watched.recording = events.recording
            AND watched.pid = events.pid
            AND watched.tid = events.tid
        WHERE events.kind = 'sched' AND events.dur_ns > 0
    ),
    explained AS (
        SELECT
            switches.*,
            CASE WHEN switches.start_ns < calls.end_ns THEN calls.start_ns END AS call_ns,
            CASE WHEN switches.start_ns < calls.end_ns THEN calls.end_ns - calls.start_ns END AS call_dur_ns,
            CASE WHEN switches.start_ns < calls.end_ns THEN calls.kind END AS kind,
            CASE WHEN switches.start_ns < calls.end_ns THEN calls.name END AS name,
            CASE WHEN switches.start_ns < calls.end_ns THEN calls.object END AS object,
            CASE WHEN switches.start_ns < calls.end_ns THEN calls.addr END AS addr,
            CASE WHEN switches.start_ns < calls.end_ns THEN calls.status END AS status
        FROM switches
        ASOF LEFT JOIN calls
            ON calls.recording = switches.recording
            AND calls.pid = switches.pid
            AND calls.tid = switches.tid
            AND calls.start_ns <= switches.start_ns
    ),
    unseen AS (
        SELECT
            calls.recording,
            calls.pid,
            calls.tid,
            calls.start_ns,
            CASE WHEN calls.kind = 'wait' THEN calls.end_ns - calls.start_ns ELSE calls.io_ns END AS dur_ns,
            CAST(NULL AS VARCHAR) AS state,
            0 AS runq_ns,
            CAST(NULL AS BIGINT) AS waker_tid,
            CAST(NULL AS BIGINT) AS other_pid,
            CAST(NULL AS VARCHAR) AS other_comm,
            calls.start_ns AS call_ns,
            calls.end_ns - calls.start_ns AS call_dur_ns,
            calls.kind,
            calls.name,
            calls.object,
            calls.addr,
            calls.status
        FROM calls
        ANTI JOIN explained
            ON explained.recording = calls.recording
            AND explained.pid = calls.pid
            AND explained.tid = calls.tid
            AND explained.call_ns = calls.start_ns
        WHERE calls.kind = 'wait' OR calls.io_ns > 0
    ),
    spans AS (
        SELECT explained.*
        FROM explained
        UNION ALL
        SELECT unseen.*
        FROM unseen
    )
SELECT
    spans.recording, -- recording
    spans.pid, -- process
    spans.tid, -- thread
    watched.thread, -- number of the training thread; NULL for a worker
    spans.start_ns, -- [ns] when it left its CPU
    spans.dur_ns, -- [ns] until it ran again
    spans.runq_ns, -- [ns] of it, at the end: ready to run, without a CPU
    CASE
        WHEN spans.state IN ('preempted', 'started') THEN 'runnable'
        WHEN spans.state = 'stopped' THEN 'stopped'
        ELSE waits_for(spans.kind, spans.name, spans.object, coalesce(spans.state = 'io', FALSE))
    END AS state, -- runnable, storage, pipe, socket, thread, process, asleep, stopped or unexplained
    spans.name AS call, -- system call around it; NULL where none was recorded
    spans.call_ns, -- [ns] when that began
    spans.call_dur_ns, -- [ns] how long that took, on and off the CPU
    spans.object, -- what it waits for: futex, or the file behind a descriptor
    spans.addr, -- address of the futex
    spans.status, -- result of the call: 0, or -errno such as -110, a time that is over
    spans.waker_tid, -- thread that ended the wait; NULL where none did, or where the recording does not say
    spans.other_pid, -- process that had the CPU while the thread could run; NULL likewise
    spans.other_comm -- name of the thread that had it
FROM spans
JOIN _watched_threads AS watched
    ON watched.recording = spans.recording
    AND watched.pid = spans.pid
    AND watched.tid = spans.tid
WHERE spans.dur_ns > 0
