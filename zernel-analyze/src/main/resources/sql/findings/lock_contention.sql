-- Threads stand in line for a lock. While one of them has it, the others wait, so they do no more than one thread does.
--
-- Of processes without steps, such as servers, with threads that run Python code: all waits for one lock, which these
-- threads hand to each other, or for Python's own (GIL). Where most of what they compute is to send and receive objects
-- for a pool of processes, as which each argument and result is pickled, the advice is to send less. Where threads that
-- wait for Python's own lock mostly do what can be left out, as such objects or calls that have a faster way, that is
-- the cause (ipc_bound, slow_calls).
-- Does not apply to threads that wait for work, nor to trainings (blocked_on_thread, gil_contention), nor to waits that
-- begin while Python's collector runs, which has its lock (collector_pauses).
--
-- needs: _lock_queues, _threads, events, _ipc_shares, _working_samples, faster_ways
-- severity: high from 1 thread that waits, on average, or half of the time of one; medium from 0.5, or of such a cause
-- hint: py-spy dump --pid PID names what each thread is in
-- lines: the waits WHERE stands AND thread = 'process' AND name = 'futex'
-- lines: what is done meanwhile by the thread that has it WHERE wakes AND thread = 'process' AND name <> 'futex'
WITH
    thresholds AS (
        SELECT
            20 AS min_waits, -- for the lock
            0.2 AS min_waiting, -- threads that wait for it at any time, on average
            1 AS high_waiting, -- for high severity
            0.5 AS high_share, -- the same, of the time of the process, that one thread waits
            0.5 AS medium_waiting, -- for medium severity
            0.5 AS faster_share -- of what its threads compute, in calls that have a faster way
    ),
    lives AS (
        SELECT recording, pid, max(last_ns) - min(first_ns) AS wall_ns
        FROM _threads
        GROUP BY ALL
    ),
    collections AS (
        SELECT recording, pid, ts_ns AS start_ns, ts_ns + dur_ns AS end_ns
        FROM events
        WHERE kind = 'gc' AND dur_ns > 0
    ),
    queues AS (
        SELECT
            waits.*,
            sum(waits.until_ns - waits.from_ns) OVER (
                PARTITION BY waits.recording, waits.pid, waits.kind, waits.lock, waits.tid
            ) AS thread_ns
        FROM _lock_queues AS waits
        ASOF LEFT JOIN collections
            ON collections.recording = waits.recording
            AND collections.pid = waits.pid
            AND collections.start_ns <= waits.from_ns
        WHERE (collections.end_ns > waits.from_ns) IS NOT TRUE
    ),
    sums AS (
        SELECT
            waits.recording,
            waits.pid,
            waits.kind,
            waits.lock,
            count(*) AS waits,
            count(DISTINCT waits.tid) AS threads,
            sum(waits.until_ns - waits.from_ns) AS wait_ns,
            median(waits.until_ns - waits.from_ns) AS p50_ns,
            any_value(lives.wall_ns) AS wall_ns,
            sum(waits.until_ns - waits.from_ns) / any_value(lives.wall_ns) AS waiting,
            max(waits.thread_ns) / any_value(lives.wall_ns) AS most_share
        FROM queues AS waits
        JOIN lives ON lives.recording = waits.recording AND lives.pid = waits.pid AND lives.wall_ns > 0
        GROUP BY waits.recording, waits.pid, waits.kind, waits.lock
    ),
    faster AS (
        SELECT samples.recording, samples.pid, sum(samples.ns) FILTER (ways.id IS NOT NULL) / sum(samples.ns) AS share
        FROM _working_samples AS samples
        LEFT JOIN faster_ways AS ways ON ways.id = samples.id
        GROUP BY samples.recording, samples.pid
    ),
    -- Of several locks the one that most wait for.
    worst AS (
        SELECT recording, pid, kind, waits, threads, wait_ns, p50_ns, wall_ns, waiting, most_share
        FROM sums
        QUALIFY row_number() OVER (PARTITION BY recording, pid ORDER BY waiting DESC, lock) = 1
    )
SELECT
    recording, -- recording
    pid, -- process
    waiting AS value, -- threads that wait at any time, on average
    CASE WHEN kind = 'gil' THEN 'threads wait for Python''s lock (GIL), on average' ELSE 'wait for it, on average' END
        AS unit, -- unit of value
    CASE
        WHEN (waiting >= high_waiting OR most_share >= high_share)
            AND (kind = 'gil' AND (mostly OR faster.share >= faster_share)) IS NOT TRUE
            THEN 'high'
        WHEN waiting >= medium_waiting OR most_share >= high_share THEN 'medium'
        ELSE 'low'
    END AS severity, -- high, medium or low
    format('{} threads waited {:.2f} s together in {:.2f} s, in {} waits of {} (median), ',
        threads, wait_ns / 1e9, wall_ns / 1e9, waits, ms(p50_ns))
        || CASE
            WHEN kind = 'gil' AND mostly
                THEN 'for Python''s lock; what they compute is mostly to pickle, send and receive objects'
            WHEN kind = 'gil' THEN 'for Python''s lock'
            ELSE 'for a lock that they hand to each other'
        END AS evidence, -- what it rests on
    CASE
        WHEN kind = 'gil' AND mostly
            THEN 'send less between the processes: an index, a path or shared memory (multiprocessing.shared_memory) '
                || 'for an array, only what is needed as result, and many small tasks at once (chunksize)'
        WHEN kind = 'gil'
            THEN 'Python code runs in one thread at a time: serve with more processes, or move work to processes '
                || '(ProcessPoolExecutor) or into code that releases the lock'
        ELSE 'hold the lock for less time: fetch, read and compute outside of it, and only store the result inside; '
            || 'or use a lock for each key'
    END AS advice, -- what to try
    'zernel-analyze stacks {}' AS next_command -- to see more
FROM worst
CROSS JOIN thresholds
LEFT JOIN _ipc_shares USING (recording, pid)
LEFT JOIN faster USING (recording, pid)
WHERE waits >= min_waits AND waiting >= min_waiting
