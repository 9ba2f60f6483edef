-- A program waits for its writes. The threads that compute most write, sync or rename files themselves.
--
-- Of processes without steps: the time in such calls on files, and in opening them to be written.
-- Does not apply to trainings (storage_writes, checkpoint_stall), to what other threads write, to pipes and sockets,
-- nor to writes through a mapping of a file.
--
-- needs: _working_threads, events
-- severity: high from 25 % of the time of these threads, medium from 10 %
-- hint: the same with its files on a memory file system (/dev/shm) tells what storage costs
-- lines: the writes WHERE thread = 'process' AND state = 'storage' AND NOT is_read(name)
WITH
    thresholds AS (
        SELECT
            10 AS min_calls, -- of these calls
            0.1 AS min_share, -- of the time of the threads
            0.5 AS sync_share -- of the time in these calls, in syncs
    ),
    calls AS (
        SELECT
            events.recording,
            events.pid,
            any_value(threads.wall_ns) AS wall_ns,
            count(*) AS calls,
            sum(events.dur_ns) AS write_ns,
            coalesce(sum(events.bytes), 0) AS bytes,
            coalesce(sum(events.dur_ns) FILTER (events.name LIKE '%sync%'), 0) AS sync_ns,
            count(*) FILTER (events.name LIKE '%sync%') AS syncs,
            arg_max(events.path, (events.dur_ns, events.path)) AS path
        FROM events
        JOIN _working_threads AS threads
            ON threads.recording = events.recording
            AND threads.pid = events.pid
            AND threads.tid = events.tid
            AND threads.work_ns <= events.ts_ns
            AND threads.until_ns > events.ts_ns
        WHERE (events.kind IN ('io', 'io_open')) IS TRUE
            AND CASE WHEN events.kind = 'io' THEN NOT is_read(events.name) ELSE events.writable = 1 END
            AND events.path NOT SIMILAR TO '(pipe|socket):.*' IS NOT FALSE
            AND events.dur_ns > 0
        GROUP BY events.recording, events.pid
    )
SELECT
    recording, -- recording
    pid, -- process
    round(100 * write_ns / wall_ns, 1) AS value, -- percent of the time of the threads
    '% of its time' AS unit, -- unit of value
    severity_of(write_ns / wall_ns) AS severity, -- high, medium or low
    format('{:.2f} s of {:.2f} s in {} calls that write {}; {} syncs took {} of that; the longest on {}',
        write_ns / 1e9, wall_ns / 1e9, calls, size(bytes), syncs, pct(sync_ns / write_ns),
        coalesce(path, 'a file of unknown name')) AS evidence, -- what it rests on
    CASE
        WHEN sync_ns >= sync_share * write_ns
            THEN 'sync once for many: one transaction for many rows (executemany, then one commit), no fsync for each; '
                || 'or in another thread: a sync waits for the device'
        ELSE 'write many at once, in another thread or process, or less'
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM events WHERE kind = ''io'' ORDER BY dur_ns DESC LIMIT 20"'
        AS next_command -- to see more
FROM calls
CROSS JOIN thresholds
WHERE calls >= min_calls AND write_ns >= min_share * wall_ns
