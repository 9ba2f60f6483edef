-- Loading waits for storage. Read calls make up a large part of the time in which training waits for data.
--
-- With workers, the part is their share of active time (not waiting for work) inside read calls; without, it is the
-- time in read calls inside `__next__`. Pages that are cached read fast and do not show up. Reads through mmap are not
-- system calls and do not show up either.
--
-- needs: training_threads, worker_crews, data_wait, events, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: a second recording with a warm page cache tells storage from decoding
WITH
    thresholds AS (
        SELECT
            0.1 AS min_share, -- share of step time spent waiting for data
            0.3 AS min_reading, -- part of loading spent in reads
            5 AS min_steps -- steps after the first
    ),
    waits AS (
        SELECT
            threads.recording,
            threads.pid,
            threads.tid,
            threads.steady_ns / threads.steady_steps AS step_ns,
            threads.steady_data_ns / threads.steady_steps AS data_ns,
            threads.loads_in_process
        FROM training_threads AS threads
        CROSS JOIN thresholds
        WHERE threads.steady_steps >= thresholds.min_steps
            AND threads.steady_data_ns >= thresholds.min_share * threads.steady_ns
    ),
    read_calls AS (
        SELECT events.recording, events.pid, events.tid, events.ts_ns, events.dur_ns
        FROM events
        JOIN waits
            ON waits.recording = events.recording
            AND waits.pid = events.pid
            AND waits.tid = events.tid
        WHERE events.kind = 'io' AND events.dur_ns IS NOT NULL AND waits.loads_in_process
    ),
    own_reads AS (
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
    all_waits AS (
        SELECT recording, pid, tid, sum(dur_ns) AS wait_ns
        FROM data_wait
        GROUP BY ALL
    ),
    parts AS (
        SELECT
            waits.recording,
            waits.pid,
            waits.tid,
            waits.step_ns,
            waits.data_ns,
            CASE
                WHEN waits.loads_in_process THEN own_reads.read_ns / all_waits.wait_ns
                ELSE crews.io_share / nullif(crews.io_share + crews.other_share, 0)
            END AS reading,
            crews.read_bytes / nullif(crews.window_ns * crews.io_share / 1e9, 0) AS bytes_per_s,
            waits.loads_in_process
        FROM waits
        JOIN all_waits USING (recording, pid, tid)
        LEFT JOIN own_reads USING (recording, pid, tid)
        LEFT JOIN worker_crews AS crews ON crews.recording = waits.recording AND crews.pid = waits.pid
    )
SELECT
    thread_label(recording, pid, tid) AS subject, -- thread that waits
    round(100 * reading, 1) AS value, -- part of loading spent in read calls
    '% of loading time' AS unit, -- unit of value
    severity_of(reading * data_ns / step_ns) AS severity, -- high, medium or low
    round(reading * data_ns / 1e6, 3) AS lost_ms_per_step, -- [ms] wait per step, times the part
    round(step_ns / greatest(step_ns - reading * data_ns, 1), 2) AS max_speedup, -- bound when reads cost nothing
    format('{} of the {} wait per step: ', pct(reading), ms(data_ns))
        || CASE
            WHEN loads_in_process THEN 'read calls inside __next__'
            ELSE format('workers blocked in reads, {:.0f} MB/s while reading', coalesce(bytes_per_s, 0) / 1e6)
        END
        || '; ' || bound_text(step_ns, reading * data_ns) AS evidence, -- what it rests on
    'pack small files into large ones, keep them on faster storage or in memory, or read ahead (prefetch_factor)'
        AS advice, -- what to try
    format('zernel-analyze sql {} "FROM workers"', file_label(recording)) AS next_command -- to see more
FROM parts
CROSS JOIN thresholds
WHERE reading >= thresholds.min_reading
ORDER BY lost_ms_per_step DESC, subject
LIMIT 20
