-- What kind of files the data is read from, per process that trains: mapped ones, one large one, or many.
--
-- Counted are reads and page faults while it trains, of its data workers too, by the time that they take. Those of
-- which the recording has no path are left out.
--
-- needs: events, workers, training_threads
-- digest: kept
CREATE TABLE _loaded_files AS
WITH
    loaders AS (
        SELECT recording, pid, pid AS training_pid, min(first_ns) AS first_ns, max(last_ns) AS last_ns
        FROM training_threads
        GROUP BY recording, pid
        UNION ALL
        SELECT recording, pid, ppid, start_ns, start_ns + window_ns
        FROM workers
        WHERE ppid IS NOT NULL
    ),
    paths AS (
        SELECT
            events.recording,
            loaders.training_pid,
            events.path,
            sum(events.dur_ns) AS read_ns,
            sum(CASE WHEN events.name = 'page_fault' THEN events.dur_ns ELSE 0 END) AS mapped_ns
        FROM events
        JOIN loaders
            ON loaders.recording = events.recording
            AND loaders.pid = events.pid
            AND events.ts_ns >= loaders.first_ns
            AND events.ts_ns <= loaders.last_ns
        WHERE events.kind = 'io'
            AND is_read(events.name)
            AND events.dur_ns > 0
            AND NOT (events.path LIKE 'pipe:%' OR events.path LIKE 'socket:%')
        GROUP BY ALL
    )
SELECT
    recording, -- recording
    training_pid AS pid, -- process that trains
    count(DISTINCT path) AS files, -- files
    arg_max(path, read_ns) AS top_path, -- the one that took longest
    max(read_ns) / sum(read_ns) AS top_share, -- its share of the time, 0 to 1
    sum(mapped_ns) / sum(read_ns) AS mapped_share -- share of the time in page faults of mapped files, 0 to 1
FROM paths
GROUP BY recording, training_pid;

-- Loading waits for storage. Most of the time in which data is loaded goes by in read calls.
--
-- With workers, that is their share of active time (not waiting for work) inside reads and faults on mapped files, and
-- the whole wait is lost: they would be ready in time. Without workers, it is the time in reads inside `__next__`, and
-- so much of the wait is lost. At most as much is lost as the GPU is idle by the driver's samples.
-- Does not apply to reads that hardly block: they copy files in the page cache; nor to reads through libraries that do
-- not use system calls (an object store's client waits on a socket), nor to one late rank of several (nccl_straggler).
--
-- needs: data_wait_causes, _loaded_files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: a second recording with a warm page cache tells storage from decoding
-- lines: the reading WHERE loads AND state = 'storage'
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            0.05 AS min_share, -- what can be saved, as a share of step time
            0.5 AS most -- of the time in reads, that mapped files or one file must take to be named
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that waits
    data_ns AS part_ns, -- [ns] shown as share of step time spent waiting
    step_ns, -- [ns] step
    lost_ns, -- [ns] wait per step, at most as the GPU is idle
    bound_ns, -- [ns] saved at most, when no wait is left
    least_lost(lost_ns, least_idle_ns) AS least_lost_ns, -- [ns] lost at least, without samples of the GPU
    format('mean of {} steps: {} waiting of {}; ', steps, ms(data_ns), ms(step_ns))
        || format('{} of loading is reading', pct(reading))
        || CASE
            WHEN loads_in_process THEN ' inside __next__'
            ELSE format(' in {} workers, {}/s while reading', at_once, size(coalesce(bytes_per_s, 0)))
        END
        || CASE
            WHEN mapped_share >= most THEN format(', {} of that time in page faults of mapped files', pct(mapped_share))
            ELSE ''
        END
        || CASE
            WHEN top_share >= most THEN format(', {} of it in {}', pct(top_share), regexp_extract(top_path, '[^/]*$'))
            ELSE ''
        END
        || idle_text(idle_ns, lost_ns, least_idle_ns, bound_ns) AS evidence, -- what it rests on
    CASE
        WHEN mapped_share >= most AND loads_in_process
            THEN 'read the mapped file in larger pieces: shuffle by chunks of rows that lie together, ask for pages '
                || 'ahead (madvise), or keep it on faster storage or in memory; or read ahead in data workers '
                || '(num_workers)'
        WHEN mapped_share >= most
            THEN 'read the mapped file in larger pieces: shuffle by chunks of rows that lie together, ask for pages '
                || 'ahead (madvise), or keep it on faster storage or in memory; or read further ahead '
                || '(prefetch_factor, more workers)'
        WHEN top_share >= most AND loads_in_process
            THEN 'read larger blocks of the file in the order in which they lie, or keep it on faster storage or '
                || 'in memory; or read ahead in data workers (num_workers)'
        WHEN top_share >= most
            THEN 'read larger blocks of the file in the order in which they lie, or keep it on faster storage or '
                || 'in memory; or read further ahead (prefetch_factor, more workers)'
        WHEN loads_in_process
            THEN 'pack small files into large ones, or keep them on faster storage or in memory; or read ahead in '
                || 'data workers (num_workers)'
        ELSE 'pack small files into large ones, or keep them on faster storage or in memory; or read further ahead '
            || '(prefetch_factor, more workers)'
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM reads_by_file"' AS next_command -- to see more
FROM data_wait_causes
LEFT JOIN _loaded_files USING (recording, pid)
CROSS JOIN thresholds
WHERE cause = 'storage' AND steps >= min_steps AND lost_ns >= min_share * step_ns
