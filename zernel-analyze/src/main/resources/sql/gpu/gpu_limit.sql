-- Whether the GPU limits each training process: a program that is ahead of its GPU ends up waiting for it.
--
-- It is `gpu` where kernels run nearly all the time, by a trace or the driver's samples within steps of kind train. It
-- is too where these leave room for that, and launches block, because the queue of the GPU is full, or a wait for the
-- GPU lasts as long as half a step, because that much is still queued: the usual wait of a step, or the first wait
-- after the last step. Without them it is `close` where the samples leave that room, `cpu` where they do not, and
-- `unknown` without samples.
--
-- needs: gpu_busy, gpu_traces, _trained, step_work, _syncs
-- digest: kept
CREATE TABLE gpu_limit AS
WITH
    constants AS (
        SELECT
            0.85 AS busy_share, -- share of the time from which on a GPU is busy
            0.3 AS close_share, -- share of the time below which its use is not close to that
            0.3 AS wide_share, -- what samples leave open of the time, from which on they tell no one number
            20000 AS blocked_ns -- [ns] mean launch from which on launches wait for room in the queue
    ),
    work AS (
        SELECT
            recording,
            pid,
            median(dur_ns) AS step_ns,
            avg(dur_ns) AS mean_ns,
            median(sync_ns - collective_sync_ns) AS sync_ns,
            avg(launch_ns / nullif(launches, 0)) AS launch_ns,
            sum(launch_ns) / sum(dur_ns) FILTER (WHERE launch_ns IS NOT NULL) AS launch_share
        FROM step_work
        WHERE step_kind = 'train'
        GROUP BY recording, pid
    ),
    -- What was still queued when training ended.
    last_syncs AS (
        SELECT _syncs.recording, _syncs.pid, arg_min(_syncs.dur_ns, _syncs.start_ns) AS dur_ns
        FROM _syncs
        JOIN _trained AS trained ON trained.recording = _syncs.recording AND trained.pid = _syncs.pid
        JOIN work ON work.recording = _syncs.recording AND work.pid = _syncs.pid
        WHERE NOT _syncs.for_collective
            AND _syncs.start_ns >= trained.end_ns
            AND _syncs.start_ns < trained.end_ns + work.step_ns
        GROUP BY ALL
    ),
    signs AS (
        SELECT
            work.recording,
            work.pid,
            work.step_ns,
            work.sync_ns,
            work.launch_ns,
            work.launch_share,
            last_syncs.dur_ns AS last_sync_ns,
            busy.samples,
            recorded.pid IS NOT NULL AS recorded,
            busy.train_busy AS busy,
            busy.least_train_busy AS least_busy,
            busy.most_train_busy AS most_busy,
            coalesce(busy.train_busy >= constants.busy_share, FALSE) AS is_busy,
            busy.train_busy IS NULL OR busy.most_train_busy >= constants.busy_share AS may_be_busy,
            coalesce(work.launch_ns >= constants.blocked_ns AND work.launch_share >= 0.25, FALSE) AS blocks,
            greatest(coalesce(work.sync_ns, 0), coalesce(last_syncs.dur_ns, 0)) >= 0.5 * work.step_ns AS waits
        FROM work
        CROSS JOIN constants
        LEFT JOIN last_syncs ON last_syncs.recording = work.recording AND last_syncs.pid = work.pid
        LEFT JOIN gpu_busy AS busy ON busy.recording = work.recording AND busy.pid = work.pid
        LEFT JOIN (SELECT DISTINCT recording, pid FROM gpu_traces WHERE clock = 'cupti') AS recorded
            ON recorded.recording = work.recording
            AND recorded.pid = work.pid
        WHERE work.launch_ns IS NOT NULL OR busy.pid IS NOT NULL
    )
SELECT
    signs.recording, -- recording
    signs.pid, -- process that trains
    CASE
        WHEN is_busy OR ((blocks OR waits) AND may_be_busy) THEN 'gpu'
        WHEN busy IS NULL THEN 'unknown'
        WHEN busy >= constants.close_share AND most_busy >= constants.busy_share THEN 'close'
        ELSE 'cpu'
    END AS limits, -- gpu, cpu, close or unknown
    busy, -- share of the time in which a kernel ran, 0 to 1; NULL without a trace or samples
    last_sync_ns, -- [ns] first wait for the GPU after the last step; NULL where none was recorded
    concat_ws(
        '; ',
        CASE
            WHEN samples IS NULL THEN 'its GPU was not sampled'
            WHEN busy IS NULL THEN 'no sample of its GPU lies within training steps'
            WHEN samples = 0 THEN format('a kernel ran {} of the time ({})',
                pct(busy), CASE WHEN recorded THEN 'as CUPTI recorded it' ELSE 'the profiler''s trace' END)
            WHEN samples = 1 THEN format('a kernel ran {} of the time (NVML, one sample)', pct(busy))
            WHEN most_busy - least_busy >= constants.wide_share
                THEN format('a kernel ran between {} and {} of the time, most likely {} (NVML, {} samples)',
                    pct(least_busy), pct(most_busy), pct(busy), samples)
            ELSE format('a kernel ran {} of the time (NVML, {} samples: {} to {})',
                pct(busy), samples, pct(least_busy), pct(most_busy))
        END,
        CASE
            WHEN blocks
                THEN format('launches {}: {:.0f} us each, {} of a step',
                    -- The first call of a function loads it, which takes as long.
                    CASE
                        WHEN may_be_busy THEN 'block for room in the queue'
                        ELSE 'are slow, with room in the queue'
                    END,
                    launch_ns / 1e3, pct(launch_share))
        END,
        CASE WHEN sync_ns >= 0.05 * step_ns THEN format('a step waits {} for the GPU', ms(sync_ns)) END,
        CASE
            WHEN last_sync_ns IS NOT NULL
                THEN format('after the last step {} were still queued, {:.2f} of a step',
                    ms(last_sync_ns), last_sync_ns / step_ns)
        END
    ) AS evidence -- what it rests on
FROM signs
CROSS JOIN constants
ORDER BY signs.recording, signs.pid
