-- What training threads that load data do while they wait for it: reads, and time off the CPU.
--
-- Of threads with data workers, only the time off the CPU is of use.
--
-- needs: events, training_threads, data_wait, _off_cpu_steps, _launching_threads, _role_waits
CREATE VIEW _own_loading AS
WITH
    threads AS (
        SELECT recording, pid, tid, steady_steps AS steps, loads_in_process
        FROM training_threads
        WHERE steady_steps > 0 AND batches > 0
    ),
    waits AS (
        SELECT recording, pid, tid, sum(dur_ns) AS wait_ns
        FROM data_wait
        GROUP BY ALL
    ),
    read_calls AS (
        SELECT events.recording, events.pid, events.tid, events.ts_ns, events.dur_ns
        FROM events
        JOIN threads
            ON threads.recording = events.recording
            AND threads.pid = events.pid
            AND threads.tid = events.tid
        WHERE events.kind = 'io'
            AND is_read(events.name)
            AND NOT coalesce(events.path LIKE 'pipe:%' OR events.path LIKE 'socket:%', FALSE)
            AND events.dur_ns IS NOT NULL
            AND threads.loads_in_process
    ),
    reading AS (
        SELECT read_calls.recording, read_calls.pid, read_calls.tid, sum(read_calls.dur_ns) AS read_ns
        FROM read_calls
        ASOF JOIN data_wait
            ON data_wait.recording = read_calls.recording
            AND data_wait.pid = read_calls.pid
            AND data_wait.tid = read_calls.tid
            AND data_wait.start_ns <= read_calls.ts_ns
        WHERE read_calls.ts_ns < data_wait.start_ns + data_wait.dur_ns
        GROUP BY ALL
    ),
    spans AS (
        SELECT
            recording,
            pid,
            tid,
            sum(dur_ns) AS off_ns,
            sum(CASE WHEN part = 'data_wait' THEN dur_ns ELSE 0 END) AS data_off_ns,
            sum(CASE WHEN part = 'data_wait' THEN runq_ns ELSE 0 END) AS data_runq_ns
        FROM _off_cpu_steps
        WHERE step_kind = 'train'
        GROUP BY ALL
    )
SELECT
    threads.recording, -- recording
    threads.pid, -- process
    threads.tid, -- training thread
    coalesce(others.threads, 0) AS other_threads, -- threads of the process beside it that launch work on a GPU
    named.names, -- functions with the role data_wait; NULL where a DataLoader tells it
    named.asleep_share, -- share of their time asleep or blocked, 0 to 1
    reading.read_ns / waits.wait_ns AS reading, -- share of its waits for data in reads of files; NULL where it has none
    coalesce(spans.off_ns, 0) / threads.steps AS off_ns, -- [ns] off the CPU, in a mean step
    coalesce(spans.data_off_ns, 0) / threads.steps AS data_off_ns, -- [ns] of it, while it waits for data
    coalesce(spans.data_runq_ns, 0) / threads.steps AS data_runq_ns -- [ns] of that, ready to run, without a CPU
FROM threads
JOIN waits ON waits.recording = threads.recording AND waits.pid = threads.pid AND waits.tid = threads.tid
LEFT JOIN reading
    ON reading.recording = threads.recording
    AND reading.pid = threads.pid
    AND reading.tid = threads.tid
LEFT JOIN spans ON spans.recording = threads.recording AND spans.pid = threads.pid AND spans.tid = threads.tid
LEFT JOIN (
    SELECT training.recording, training.pid, training.tid, count(*) AS threads
    FROM threads AS training
    JOIN _launching_threads AS launching
        ON launching.recording = training.recording
        AND launching.pid = training.pid
        AND launching.tid <> training.tid
    GROUP BY ALL
) AS others ON others.recording = threads.recording AND others.pid = threads.pid AND others.tid = threads.tid
LEFT JOIN _role_waits AS named
    ON named.recording = threads.recording
    AND named.pid = threads.pid
    AND named.tid = threads.tid
