-- Memory of the processes of a training: how much each has, and by how much it grows in the second half of it.
--
-- Of a process that trains it is what is in place (RSS). Of a DataLoader worker it is the pages that nobody shares: a
-- worker that writes to memory of its parent, be it a count of references, gets pages of its own, while its RSS stays.
-- Where those were not sampled often enough it is RSS too. Looked at is the process's life after the last step that
-- compiled or warmed up: what these take is no growth that goes on. The slope is the median of those of all pairs of
-- samples in the second half of that, so that single steps and peaks do not count.
--
-- needs: training_threads, steps, processes, events, _host_limits
CREATE TABLE host_memory_use AS
WITH
    constants AS (
        SELECT
            5 AS min_samples, -- of its own pages in the second half, or RSS is used
            60 AS most_samples -- of the second half that are compared with each other
    ),
    training AS (
        SELECT recording, pid, min(first_ns) AS start_ns, max(last_ns) AS end_ns
        FROM training_threads
        GROUP BY recording, pid
    ),
    warmed AS (
        SELECT steps.recording, steps.pid, max(steps.end_ns) AS warm_ns
        FROM steps
        JOIN training_threads AS threads
            ON threads.recording = steps.recording
            AND threads.pid = steps.pid
            AND threads.tid = steps.tid
            AND threads.last_warmup_step = steps.step
        GROUP BY steps.recording, steps.pid
    ),
    trainers AS (
        SELECT training.*, coalesce(warmed.warm_ns, training.start_ns) AS warm_ns
        FROM training
        LEFT JOIN warmed ON warmed.recording = training.recording AND warmed.pid = training.pid
    ),
    members AS (
        SELECT recording, pid, pid AS trainer, FALSE AS works, start_ns, warm_ns, end_ns
        FROM trainers
        UNION ALL
        SELECT
            processes.recording,
            processes.pid,
            trainers.pid,
            TRUE,
            trainers.start_ns,
            trainers.warm_ns,
            trainers.end_ns
        FROM processes
        JOIN trainers ON trainers.recording = processes.recording AND trainers.pid = processes.ppid
        WHERE processes.role = 'data worker'
    ),
    samples AS (
        SELECT
            members.recording,
            members.pid,
            members.trainer,
            members.works,
            events.name,
            events.ts_ns,
            events.value,
            events.ts_ns >= members.warm_ns AS warm,
            min(events.ts_ns) FILTER (events.ts_ns >= members.warm_ns) OVER life AS first_ns,
            max(events.ts_ns) OVER life AS last_ns
        FROM events
        JOIN members
            ON members.recording = events.recording
            AND members.pid = events.pid
            AND members.start_ns <= events.ts_ns
            AND members.end_ns >= events.ts_ns
        WHERE events.kind = 'host_sample' AND events.name IN ('rss', 'pss', 'private')
        WINDOW life AS (PARTITION BY members.recording, members.pid)
    ),
    placed AS (
        SELECT
            samples.*,
            warm AND 2 * ts_ns >= first_ns + last_ns AS late,
            4 * ts_ns >= first_ns + 3 * last_ns AS last_quarter
        FROM samples
    ),
    halves AS (
        SELECT
            placed.*,
            row_number() OVER half AS place,
            count(*) OVER (PARTITION BY recording, pid, name, late) AS samples
        FROM placed
        WINDOW half AS (PARTITION BY recording, pid, name, late ORDER BY ts_ns)
    ),
    compared AS (
        SELECT halves.recording, halves.pid, halves.name, halves.ts_ns, halves.value, halves.last_quarter
        FROM halves
        CROSS JOIN constants
        WHERE halves.late AND halves.place % greatest(halves.samples // constants.most_samples, 1) = 0
    ),
    pairs AS (
        SELECT
            a.recording,
            a.pid,
            a.name,
            a.last_quarter AS starts_last,
            b.last_quarter AS ends_last,
            (b.value - a.value) / (b.ts_ns - a.ts_ns) AS slope
        FROM compared AS a
        JOIN compared AS b
            ON b.recording = a.recording
            AND b.pid = a.pid
            AND b.name = a.name
            AND b.ts_ns > a.ts_ns
    ),
    slopes AS (
        SELECT
            recording,
            pid,
            name,
            median(slope) AS slope,
            quantile_cont(slope, 0.1) AS low_slope,
            median(slope) FILTER (NOT ends_last) AS third_slope,
            median(slope) FILTER (starts_last) AS last_slope
        FROM pairs
        GROUP BY recording, pid, name
    ),
    sizes AS (
        SELECT
            recording,
            pid,
            any_value(trainer) AS trainer,
            any_value(works) AS works,
            greatest(max(last_ns) - min(first_ns), 0) AS life_ns,
            max(last_ns) AS last_ns,
            max(value) FILTER (name = 'rss') AS peak_rss,
            arg_max(value, ts_ns) FILTER (name = 'rss') AS last_rss,
            arg_max(value, ts_ns) FILTER (name = 'pss') AS last_pss,
            arg_min(value, ts_ns) FILTER (name = 'rss' AND late) AS middle_rss,
            arg_max(value, ts_ns) FILTER (name = 'private') AS last_own,
            arg_min(value, ts_ns) FILTER (name = 'private' AND late) AS middle_own,
            any_value(works)
                AND count(*) FILTER (name = 'private' AND late) >= any_value(constants.min_samples) AS by_own
        FROM halves
        CROSS JOIN constants
        GROUP BY recording, pid
    )
SELECT
    sizes.recording, -- recording
    sizes.pid, -- process
    sizes.trainer, -- process that trains: itself, or the one that started this worker
    sizes.works, -- whether it is a DataLoader worker
    sizes.life_ns, -- [ns] between its first and its last sample while training went on, without warm-up
    sizes.last_ns, -- [ns] its last sample while training went on
    sizes.peak_rss AS peak_rss_bytes, -- [bytes] in place at most, shared or not
    sizes.last_rss AS rss_bytes, -- [bytes] at the end
    sizes.last_pss AS pss_bytes, -- [bytes] at the end, shared pages by their part; NULL where not sampled
    CASE WHEN sizes.by_own THEN 'private' ELSE 'rss' END AS measure, -- what the following are of
    CASE WHEN sizes.by_own THEN sizes.middle_own ELSE sizes.middle_rss END
        AS middle_bytes, -- [bytes] at the begin of the second half
    CASE WHEN sizes.by_own THEN sizes.last_own ELSE sizes.last_rss END AS last_bytes, -- [bytes] at the end
    CAST(slopes.slope * 6e10 AS BIGINT) AS bytes_per_minute, -- [bytes] growth in the second half, per minute
    CAST(slopes.low_slope * 6e10 AS BIGINT) AS least_per_minute, -- [bytes] the tenth percentile of the pairs of samples
    CAST(slopes.third_slope * 6e10 AS BIGINT) AS third_per_minute, -- [bytes] growth in the third quarter, per minute
    CAST(slopes.last_slope * 6e10 AS BIGINT) AS last_per_minute, -- [bytes] growth in the last quarter, per minute
    limits.memory_bytes AS limit_bytes, -- [bytes] that its cgroup may use; NULL where it is not limited
    limits.memory_group -- that cgroup
FROM sizes
LEFT JOIN slopes
    ON slopes.recording = sizes.recording
    AND slopes.pid = sizes.pid
    AND slopes.name = CASE WHEN sizes.by_own THEN 'private' ELSE 'rss' END
LEFT JOIN _host_limits AS limits ON limits.recording = sizes.recording AND limits.pid = sizes.pid
ORDER BY sizes.recording, sizes.trainer, sizes.works, sizes.pid
