-- Host memory grows, or is almost full. When it is, the kernel ends a process of the job.
--
-- Looked at is the second half of the training, after the last step that compiled or warmed up: what the training
-- process has in place, and the pages that each DataLoader worker has for itself. All of it must grow, not once but
-- from sample to sample, and in the last quarter at least half as fast as in the third: what slows down more stops.
-- Workers that are forked share the data of their parent until they touch it: Python counts references inside its
-- objects, so reading a list copies it, page by page, into each worker.
-- When the memory will be full is trusted for a hundred times as long as it was seen to grow, and matters where that is
-- within a day. A memory that is full within the hour, and within ten times as long, comes before all that is only
-- slow: no faster step helps a job that is killed.
-- Does not apply to caches that fill up and stop, if the recording is long enough to see the stop, nor to workers of a
-- pass after which they end, where those of the passes before had as much: their end gives it back.
--
-- needs: host_memory_use, memory_room, files
-- severity: high when the memory is full within an hour, or nearly is, medium within a day, else low
-- hint: the view host_curve has all samples
WITH
    thresholds AS (
        SELECT
            20 AS min_life_s, -- [s] of a process without warm-up, of which the second half is looked at
            0.1 AS min_growth, -- over the second half, as a share of the level
            5 AS ended_s, -- [s] without a sample before the training's last, after which a process has ended
            1e8 AS min_bytes, -- [bytes] over the second half: what allocators take and keep is less
            0.95 AS min_full, -- share of the memory that is nearly all
            0.5 AS min_going_on, -- growth of the last quarter, as a share of that of the third
            60 AS soon_minutes, -- minutes until the memory is full that are few
            1440 AS job_minutes, -- minutes after which most jobs have ended
            10 AS ahead, -- times as long as growth was seen, what it leads to comes first
            100 AS far_ahead -- times as long as growth was seen, it is trusted to go on
    ),
    known AS (
        SELECT
            host_memory_use.*,
            last_ns < max(last_ns) OVER (PARTITION BY recording, trainer) - 1e9 * thresholds.ended_s AS has_ended
        FROM host_memory_use
        CROSS JOIN thresholds
    ),
    ended AS (
        SELECT recording, trainer, works, max(last_bytes) AS last_bytes
        FROM known
        WHERE has_ended
        GROUP BY ALL
    ),
    lives AS (
        SELECT known.*, known.last_bytes - known.middle_bytes AS growth_bytes
        FROM known
        LEFT JOIN ended
            ON ended.recording = known.recording
            AND ended.trainer = known.trainer
            AND ended.works = known.works
        CROSS JOIN thresholds
        WHERE NOT known.has_ended
            AND known.life_ns >= 1e9 * thresholds.min_life_s
            AND known.middle_bytes IS NOT NULL
            AND known.last_bytes > coalesce(ended.last_bytes, 0)
    ),
    sides AS (
        SELECT
            recording,
            trainer AS pid,
            works,
            count(*) AS processes,
            sum(middle_bytes) AS middle_bytes,
            sum(last_bytes) AS last_bytes,
            sum(growth_bytes) AS growth_bytes,
            sum(bytes_per_minute) AS bytes_per_minute,
            bool_and(measure = 'private') AS own,
            min(life_ns) AS life_ns,
            bool_and(coalesce(least_per_minute > 0, FALSE)) AS steady,
            sum(third_per_minute) AS third_per_minute,
            sum(last_per_minute) AS last_per_minute
        FROM lives
        GROUP BY recording, trainer, works
    ),
    growing AS (
        SELECT
            sides.*,
            room.place,
            room.total_bytes,
            room.room_bytes,
            room.room_bytes / sides.bytes_per_minute AS minutes_left,
            sides.life_ns / 6e10 AS seen_minutes
        FROM sides
        CROSS JOIN thresholds
        LEFT JOIN memory_room AS room ON room.recording = sides.recording AND room.pid = sides.pid
        WHERE sides.steady
            AND sides.bytes_per_minute > 0
            AND coalesce(sides.last_per_minute >= thresholds.min_going_on * sides.third_per_minute, TRUE)
            AND sides.growth_bytes >= greatest(thresholds.min_bytes, thresholds.min_growth * sides.middle_bytes)
    ),
    full_ones AS (
        SELECT room.recording, room.pid, room.place, room.total_bytes, room.room_bytes, room.peak_bytes
        FROM memory_room AS room
        CROSS JOIN thresholds
        WHERE room.peak_bytes >= thresholds.min_full * room.total_bytes
    ),
    both_kinds AS (
        SELECT
            growing.recording,
            CASE
                WHEN growing.works THEN format('{} workers of ', growing.processes)
                ELSE ''
            END || thread_label(growing.recording, growing.pid, growing.pid) AS subject,
            round(growing.bytes_per_minute / 1e6, 1) AS value,
            'MB per minute' AS unit,
            CASE
                WHEN growing.minutes_left
                    < least(thresholds.soon_minutes, thresholds.far_ahead * growing.seen_minutes) THEN 'high'
                WHEN growing.minutes_left
                    < least(thresholds.job_minutes, thresholds.far_ahead * growing.seen_minutes) THEN 'medium'
                ELSE 'low'
            END AS severity,
            format('{} rose from {} to {} in {:.1f} minutes',
                CASE WHEN growing.own THEN 'what they do not share' ELSE 'memory in place' END,
                size(growing.middle_bytes), size(growing.last_bytes), growing.seen_minutes / 2)
                || coalesce(format('; {} has {} left of {}, full in about {:.0f} minutes at this rate',
                    growing.place, size(growing.room_bytes), size(growing.total_bytes), growing.minutes_left), '')
                AS evidence,
            CASE
                WHEN growing.minutes_left < least(thresholds.soon_minutes, thresholds.ahead * growing.seen_minutes)
                    THEN round(growing.minutes_left, 1)
            END AS minutes_left,
            CASE WHEN growing.works THEN 'workers' ELSE 'training' END AS what
        FROM growing
        CROSS JOIN thresholds
        UNION ALL
        SELECT
            recording,
            thread_label(recording, pid, pid),
            round(100 * peak_bytes / total_bytes, 1),
            '% of the memory',
            'high',
            format('{} has {} left of {}; {} were used at most', place, size(room_bytes), size(total_bytes),
                size(peak_bytes)),
            NULL,
            'full'
        FROM full_ones
    )
SELECT
    recording, -- recording
    subject, -- process, or workers of a process
    value, -- megabytes per minute, or percent in use
    unit, -- unit of value
    severity, -- high, medium or low
    evidence, -- what it rests on
    minutes_left, -- [min] until the memory is full, where that is soon; NULL otherwise
    CASE what
        WHEN 'workers'
        THEN 'keep what workers read in NumPy arrays or tensors, not in lists and dicts; or use fewer workers'
        WHEN 'training'
        THEN 'look for what is kept: lists of tensors, caches without a limit; tracemalloc says which line'
        ELSE 'use less: fewer workers, a smaller prefetch_factor, memory-mapped data; or raise the limit'
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM host_memory_use"' AS next_command -- to see more
FROM both_kinds
