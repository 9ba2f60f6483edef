-- DataLoader workers (threads that PyTorch names pt_data_worker), and what each did.
--
-- Blocked time is exact for recorded calls: waits of at least the recorder's threshold, and reads. The rest of the
-- window is on a CPU, runnable, or in another call, so `other_ns` is an upper bound of CPU time. The
-- window is the worker's life within the time that its parent trained.
--
-- needs: _threads, _process_info, _switches, events, training_threads
CREATE TABLE workers AS
WITH
    main_threads AS (
        SELECT recording, pid, min(first_ns) AS first_ns, max(last_ns) AS last_ns
        FROM _threads
        WHERE comm = 'pt_data_worker' AND tid = pid
        GROUP BY ALL
    ),
    forks AS (
        SELECT recording, child_pid AS pid, any_value(pid) AS ppid, min(ts_ns) AS forked_ns
        FROM events
        WHERE kind = 'process' AND name = 'fork'
        GROUP BY recording, child_pid
    ),
    lives AS (
        SELECT
            main_threads.recording,
            main_threads.pid,
            coalesce(forks.ppid, _process_info.ppid) AS ppid,
            forks.forked_ns,
            main_threads.first_ns,
            main_threads.last_ns
        FROM main_threads
        LEFT JOIN forks ON forks.recording = main_threads.recording AND forks.pid = main_threads.pid
        LEFT JOIN _process_info
            ON _process_info.recording = main_threads.recording
            AND _process_info.pid = main_threads.pid
    ),
    parents AS (
        SELECT recording, pid, min(first_ns) AS first_ns, max(last_ns) AS last_ns
        FROM training_threads
        GROUP BY ALL
    ),
    windows AS (
        SELECT
            lives.recording,
            lives.pid,
            lives.ppid,
            lives.forked_ns,
            greatest(lives.first_ns, coalesce(parents.first_ns, lives.first_ns)) AS start_ns,
            least(lives.last_ns, coalesce(parents.last_ns, lives.last_ns)) AS end_ns
        FROM lives
        LEFT JOIN parents ON parents.recording = lives.recording AND parents.pid = lives.ppid
    ),
    blocked AS (
        SELECT
            windows.recording,
            windows.pid,
            events.kind,
            events.bytes,
            least(events.ts_ns + events.dur_ns, windows.end_ns) - greatest(events.ts_ns, windows.start_ns) AS dur_ns
        FROM events
        JOIN windows
            ON windows.recording = events.recording
            AND windows.pid = events.pid
            AND windows.pid = events.tid
        WHERE (events.kind IN ('wait', 'io')) IS TRUE
            AND events.dur_ns IS NOT NULL
            AND CASE WHEN events.kind = 'io' THEN is_read(events.name) ELSE is_idle(events.name) END
    ),
    calls AS (
        SELECT
            recording,
            pid,
            sum(CASE WHEN kind = 'wait' THEN dur_ns END) AS wait_ns,
            sum(CASE WHEN kind = 'io' THEN dur_ns END) AS io_ns,
            count(CASE WHEN kind = 'io' THEN 1 END) AS reads,
            sum(CASE WHEN kind = 'io' THEN bytes END) AS read_bytes
        FROM blocked
        WHERE dur_ns > 0
        GROUP BY ALL
    ),
    ready AS (
        SELECT windows.recording, windows.pid, sum(switches.runq_ns) AS runq_ns
        FROM _switches AS switches
        JOIN windows
            ON windows.recording = switches.recording
            AND windows.pid = switches.pid
            AND windows.pid = switches.tid
        WHERE switches.dur_ns IS NOT NULL
            AND switches.ts_ns + switches.dur_ns > windows.start_ns
            AND switches.ts_ns < windows.end_ns
            AND switches.dur_ns > 0
        GROUP BY ALL
    )
SELECT
    windows.recording, -- recording
    windows.pid, -- worker process
    windows.ppid, -- process that trains, if known
    windows.forked_ns, -- [ns] when it was forked, if that was seen
    windows.start_ns, -- [ns] begin of the window
    windows.end_ns - windows.start_ns AS window_ns, -- [ns] length of the window
    CAST(coalesce(calls.wait_ns, 0) AS BIGINT) AS wait_ns, -- [ns] blocked in waits: idle, or its queue was full
    CAST(coalesce(calls.io_ns, 0) AS BIGINT) AS io_ns, -- [ns] blocked in read calls
    coalesce(calls.reads, 0) AS reads, -- read calls
    CAST(coalesce(calls.read_bytes, 0) AS BIGINT) AS read_bytes, -- [bytes] read
    windows.end_ns - windows.start_ns - CAST(coalesce(calls.wait_ns, 0) + coalesce(calls.io_ns, 0) AS BIGINT)
        AS other_ns, -- [ns] the rest: on a CPU, runnable, or in another call
    CAST(coalesce(ready.runq_ns, 0) AS BIGINT) AS runq_ns -- [ns] ready to run, without a CPU
FROM windows
LEFT JOIN calls ON calls.recording = windows.recording AND calls.pid = windows.pid
LEFT JOIN ready ON ready.recording = windows.recording AND ready.pid = windows.pid
WHERE windows.end_ns > windows.start_ns
ORDER BY windows.recording, windows.pid
