-- DataLoader workers (threads that PyTorch names pt_data_worker), and what each did.
--
-- A worker is idle while it waits at the pipe on which its parent sends it the next index. Else it loads: on a CPU, in
-- reads of files, ready without a CPU, or blocked on something else, such as a remote store or a sleep. Spans off the
-- CPU below the recorder's threshold are not seen, so `cpu_ns` is an upper bound. The window is the worker's life
-- within the time that its parent trained.
--
-- needs: _threads, _process_info, off_cpu_spans, events, training_threads
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
            least(lives.last_ns, coalesce(parents.last_ns, lives.last_ns))
                - greatest(lives.first_ns, coalesce(parents.first_ns, lives.first_ns)) AS window_ns
        FROM lives
        LEFT JOIN parents ON parents.recording = lives.recording AND parents.pid = lives.ppid
    ),
    file_reads AS (
        SELECT
            windows.recording,
            windows.pid,
            sum(greatest(
                least(events.ts_ns + events.dur_ns, windows.start_ns + windows.window_ns)
                    - greatest(events.ts_ns, windows.start_ns),
                0
            )) AS io_ns,
            CASE WHEN count(events.io_ns) = count(*) THEN sum(events.io_ns) END AS disk_ns,
            count(*) AS reads,
            sum(events.bytes) AS read_bytes
        FROM events
        JOIN windows
            ON windows.recording = events.recording
            AND windows.pid = events.pid
            AND windows.pid = events.tid
        WHERE events.kind = 'io'
            AND is_read(events.name)
            AND events.dur_ns IS NOT NULL
            AND NOT coalesce(events.path LIKE 'pipe:%' OR events.path LIKE 'socket:%', FALSE)
            AND events.ts_ns + events.dur_ns > windows.start_ns
            AND events.ts_ns < windows.start_ns + windows.window_ns
        GROUP BY windows.recording, windows.pid
    ),
    inside AS (
        SELECT
            windows.recording,
            windows.pid,
            spans.state,
            least(spans.runq_ns, spans.dur_ns) AS runq_ns,
            greatest(
                least(spans.start_ns + spans.dur_ns, windows.start_ns + windows.window_ns)
                    - greatest(spans.start_ns, windows.start_ns) - spans.runq_ns,
                0
            ) AS blocked_ns
        FROM off_cpu_spans AS spans
        JOIN windows
            ON windows.recording = spans.recording
            AND windows.pid = spans.pid
            AND windows.pid = spans.tid
        WHERE spans.start_ns + spans.dur_ns > windows.start_ns
            AND spans.start_ns < windows.start_ns + windows.window_ns
    ),
    states AS (
        SELECT
            recording,
            pid,
            sum(CASE WHEN state = 'pipe' THEN blocked_ns ELSE 0 END) AS idle_ns,
            sum(CASE WHEN state NOT IN ('pipe', 'storage', 'runnable') THEN blocked_ns ELSE 0 END) AS blocked_ns,
            sum(CASE WHEN state = 'storage' THEN blocked_ns ELSE 0 END) AS storage_ns,
            sum(runq_ns) AS runq_ns
        FROM inside
        GROUP BY ALL
    ),
    summed AS (
        SELECT
            windows.*,
            CAST(coalesce(states.idle_ns, 0) AS BIGINT) AS idle_ns,
            CAST(coalesce(states.blocked_ns, 0) AS BIGINT) AS blocked_ns,
            CAST(coalesce(file_reads.io_ns, 0) AS BIGINT) AS io_ns,
            CASE WHEN file_reads.disk_ns IS NOT NULL THEN greatest(file_reads.disk_ns, states.storage_ns) END
                AS disk_ns,
            coalesce(file_reads.reads, 0) AS reads,
            CAST(coalesce(file_reads.read_bytes, 0) AS BIGINT) AS read_bytes,
            CAST(coalesce(states.runq_ns, 0) AS BIGINT) AS runq_ns
        FROM windows
        LEFT JOIN file_reads ON file_reads.recording = windows.recording AND file_reads.pid = windows.pid
        LEFT JOIN states ON states.recording = windows.recording AND states.pid = windows.pid
        WHERE windows.window_ns > 0
    )
SELECT
    recording, -- recording
    pid, -- worker process
    ppid, -- process that trains, if known
    forked_ns, -- [ns] when it was forked, if that was seen
    start_ns, -- [ns] begin of the window
    window_ns, -- [ns] length of the window
    idle_ns, -- [ns] waiting for an index
    blocked_ns, -- [ns] blocked on something else than an index and files: a socket, a sleep, a thread, or not known
    io_ns, -- [ns] in read calls of files
    CAST(disk_ns AS BIGINT) AS disk_ns, -- [ns] of it, or more, blocked; NULL where the recording does not say
    reads, -- read calls of files
    read_bytes, -- [bytes] read by them
    runq_ns, -- [ns] ready to run, without a CPU
    greatest(window_ns - idle_ns - blocked_ns - io_ns - runq_ns, 0) AS cpu_ns -- [ns] the rest: on a CPU, at most
FROM summed
ORDER BY recording, pid
