-- How busy the GPU of each training process was while it trained: by a trace, the driver's samples, or bounds.
--
-- A sample says in which share of the time since the one before a kernel ran; copies do not count, and a collective
-- that waits for other ranks does. A step cannot become shorter than its GPU is busy, so what removing any cause on the
-- CPU saves is at most `idle_ns`, which is of steps of kind train: while it evaluates or saves, a GPU is idle in
-- another way. Five or six samples a second are of the driver's own (`busy`); where it keeps none, there is what it
-- says of the moment each second (`utilization`). A process's GPU is the one on which the driver lists it, or the only
-- one that was sampled. Only samples that lie within steps count. Where there is none, those count of which half does:
-- the GPU is taken to be idle in the rest, and may have been busy in it for the range. Samples vary, so a few of them
-- give a range: the mean's interval at 95 %, by Student's t, and at most twice the highest sample, which is all that a
-- single one tells. A trace that covers at least two steps, or half of all, is exact, and counts instead of samples.
-- Only a trace tells how much communication no computation hides. Where hardware counters say how long SMs had work
-- (`sm_active`), a kernel ran at least as long.
--
-- Without either, `busy` is unknown and the calls give a range: the GPU has work while a thread waits for it, and has
-- none from the end of such a wait to the next launch, as far as the process uses one stream; processes that use NCCL
-- have more. Where launches were recorded in windows, waits with the next launch in the same one tell, for all.
-- `idle_ns` is then the middle of the range.
--
-- needs: events, _trained, steps, _step_spans, _gpu_spans, gpu_traces, _syncs, _launched, _rare_events
-- needs: _detail, detail_windows
-- digest: kept
CREATE TABLE gpu_busy AS
WITH
    constants AS (
        SELECT
            1000000000 AS period_ns, -- [ns] a sample speaks of the time since the one before, at most of so much
            0.95 AS whole, -- share of a sample's time that lies within steps
            0.5 AS half, -- the same where no sample lies within
            0.03 AS error, -- of samples, as a share of the time
            190000000 AS counter_ns, -- [ns] since the sample before, from which on a counter is of that time
            1500000000 AS most_counter_ns, -- [ns] the same up to which it is
            2 AS most_wrong, -- times a sample that the use of a GPU is at most, however few samples there are
            2 AS min_steps -- steps that a trace covers, or half of all
    ),
    measured AS (
        SELECT recording, device, ts_ns, name, value
        FROM events
        WHERE kind = 'gpu_sample' AND (name IN ('utilization', 'busy') OR (name = 'sm_active' AND object IS NULL))
    ),
    -- The samples that the driver takes by itself, where it keeps them, else what it says now and then.
    chosen AS (
        SELECT measured.*
        FROM measured
        QUALIFY name <> 'utilization' OR NOT bool_or(name = 'busy') OVER (PARTITION BY recording, device)
    ),
    spans AS (
        SELECT
            chosen.*,
            ts_ns - lag(ts_ns) OVER (PARTITION BY recording, device, name ORDER BY ts_ns) AS since_ns
        FROM chosen
    ),
    samples AS (
        SELECT
            recording,
            device,
            ts_ns - least(coalesce(since_ns, constants.period_ns), constants.period_ns) AS start_ns,
            ts_ns AS end_ns,
            CASE WHEN name <> 'sm_active' THEN value / 100 END AS busy,
            CASE WHEN name = 'sm_active' THEN value / 1e6 END AS active
        FROM spans
        CROSS JOIN constants
        WHERE name <> 'sm_active' OR since_ns BETWEEN constants.counter_ns AND constants.most_counter_ns
    ),
    only_devices AS (
        SELECT recording, any_value(device) AS device
        FROM samples
        GROUP BY recording
        HAVING count(DISTINCT device) = 1
    ),
    listed AS (
        SELECT recording, pid, mode(device ORDER BY device) AS device
        FROM events
        WHERE kind = 'gpu_process'
        GROUP BY ALL
    ),
    devices AS (
        SELECT
            trained.recording,
            trained.pid,
            trained.tid,
            trained.start_ns,
            trained.end_ns,
            trained.train_ns,
            coalesce(listed.device, only_devices.device) AS device
        FROM _trained AS trained
        LEFT JOIN listed ON listed.recording = trained.recording AND listed.pid = trained.pid
        LEFT JOIN only_devices ON only_devices.recording = trained.recording
    ),
    -- How long each process had trained, in steps of kind train, when each of them began.
    trains AS (
        SELECT
            steps.recording,
            steps.pid,
            steps.start_ns,
            steps.end_ns,
            sum(steps.dur_ns) OVER (PARTITION BY steps.recording, steps.pid ORDER BY steps.start_ns) - steps.dur_ns
                AS before_ns
        FROM steps
        JOIN devices
            ON devices.recording = steps.recording
            AND devices.pid = steps.pid
            AND devices.tid = steps.tid
        WHERE steps.step_kind = 'train'
    ),
    placed AS (
        SELECT
            devices.recording,
            devices.pid,
            devices.device,
            devices.train_ns,
            devices.start_ns AS trained_from_ns,
            devices.end_ns AS trained_until_ns,
            samples.start_ns,
            samples.end_ns,
            samples.busy,
            samples.active
        FROM devices
        JOIN samples ON samples.recording = devices.recording AND samples.device = devices.device
        WHERE samples.end_ns > devices.start_ns
            AND samples.start_ns < devices.end_ns
            AND samples.end_ns > samples.start_ns
    ),
    begun AS (
        SELECT
            placed.*,
            coalesce(trains.before_ns + least(placed.start_ns, trains.end_ns) - trains.start_ns, 0) AS before_ns
        FROM placed
        ASOF LEFT JOIN trains
            ON trains.recording = placed.recording
            AND trains.pid = placed.pid
            AND trains.start_ns <= placed.start_ns
    ),
    ended AS (
        SELECT
            begun.*,
            coalesce(trains.before_ns + least(begun.end_ns, trains.end_ns) - trains.start_ns, 0) - begun.before_ns
                AS trained_ns
        FROM begun
        ASOF LEFT JOIN trains
            ON trains.recording = begun.recording
            AND trains.pid = begun.pid
            AND trains.start_ns <= begun.end_ns
    ),
    scopes AS (
        SELECT
            recording,
            pid,
            device,
            train_ns,
            FALSE AS trains,
            busy,
            active,
            end_ns - start_ns AS span_ns,
            (least(end_ns, trained_until_ns) - greatest(start_ns, trained_from_ns)) / (end_ns - start_ns) AS share
        FROM ended
        UNION ALL
        SELECT recording, pid, device, train_ns, TRUE, busy, active, end_ns - start_ns, trained_ns / (end_ns - start_ns)
        FROM ended
    ),
    counted AS (
        SELECT
            scopes.*,
            CASE WHEN busy IS NOT NULL THEN least(busy / share, 1) END AS most_inside,
            CASE WHEN busy IS NOT NULL THEN greatest(busy - (1 - share), 0) / share END AS least_inside,
            CASE WHEN active IS NOT NULL THEN greatest(active - (1 - share), 0) / share END AS least_active
        FROM scopes
        CROSS JOIN constants
        QUALIFY share >= CASE
            WHEN max(share) OVER (PARTITION BY recording, pid, trains, busy IS NULL) >= constants.whole
                THEN constants.whole
            ELSE constants.half
        END
    ),
    means AS (
        SELECT
            recording,
            pid,
            trains,
            any_value(device) AS device,
            any_value(train_ns) AS train_ns,
            count(busy) AS samples,
            least(sum(busy * span_ns) / sum(share * span_ns) FILTER (WHERE busy IS NOT NULL), 1) AS busy,
            avg(least_inside) AS least_busy,
            avg(most_inside) AS most_busy,
            student_t(count(busy) - 1) * stddev_samp(most_inside) / sqrt(count(busy)) + any_value(constants.error)
                AS margin,
            avg(least_active) - coalesce(
                student_t(count(least_active) - 1) * stddev_samp(least_active) / sqrt(count(least_active)),
                avg(least_active)
            ) AS active,
            any_value(constants.most_wrong) * max(most_inside) + any_value(constants.error) AS most_sampled
        FROM counted
        CROSS JOIN constants
        GROUP BY recording, pid, trains
        HAVING count(busy) > 0
    ),
    ranges AS (
        SELECT
            means.* EXCLUDE (active, least_busy, most_busy, margin, most_sampled)
                REPLACE (greatest(busy, active) AS busy),
            coalesce(greatest(least_busy - margin, active, 0), 0) AS least_busy,
            greatest(least(most_busy + margin, most_sampled, 1), active) AS most_busy
        FROM means
    ),
    sampled AS (
        SELECT
            ranges.recording,
            ranges.pid,
            ranges.device,
            ranges.samples,
            ranges.busy,
            ranges.least_busy,
            ranges.most_busy,
            training.busy AS train_busy,
            coalesce(training.least_busy, 0) AS least_train_busy,
            coalesce(training.most_busy, 1) AS most_train_busy,
            NULL AS exposed,
            NULL AS feeding,
            ranges.train_ns
        FROM ranges
        LEFT JOIN ranges AS training
            ON training.recording = ranges.recording
            AND training.pid = ranges.pid
            AND training.trains
        WHERE NOT ranges.trains
    ),
    -- A trace is as a whole of what somebody chose. Of what was recorded all along only the training counts.
    recorded AS (
        SELECT DISTINCT recording, pid
        FROM gpu_traces
        WHERE clock = 'cupti'
    ),
    clipped AS (
        SELECT
            trained.recording,
            trained.pid,
            trained.train_ns,
            least(constants.min_steps, constants.half * trained.steps) * trained.step_ns AS min_ns,
            spans.device,
            spans.compute,
            spans.communication,
            spans.feeding,
            CASE
                WHEN recorded.pid IS NULL THEN spans.dur_ns
                ELSE greatest(least(spans.end_ns, trained.end_ns) - greatest(spans.start_ns, trained.start_ns), 0)
            END AS dur_ns
        FROM _trained AS trained
        JOIN _gpu_spans AS spans ON spans.recording = trained.recording AND spans.pid = trained.pid
        CROSS JOIN constants
        LEFT JOIN recorded ON recorded.recording = spans.recording AND recorded.pid = spans.pid
    ),
    traced_devices AS (
        SELECT
            recording,
            pid,
            device,
            any_value(train_ns) AS train_ns,
            coalesce(sum(dur_ns) FILTER (WHERE compute OR communication), 0) / sum(dur_ns) AS busy,
            coalesce(sum(dur_ns) FILTER (WHERE communication AND NOT compute), 0) / sum(dur_ns) AS exposed,
            coalesce(sum(dur_ns) FILTER (WHERE feeding AND NOT compute AND NOT communication), 0) / sum(dur_ns)
                AS feeding
        FROM clipped
        GROUP BY recording, pid, device
        HAVING sum(dur_ns) >= any_value(min_ns)
    ),
    traced AS (
        SELECT
            recording,
            pid,
            arg_max(device, busy) AS device,
            0 AS samples,
            max(busy) AS busy,
            max(busy) AS least_busy,
            max(busy) AS most_busy,
            max(busy) AS train_busy,
            max(busy) AS least_train_busy,
            max(busy) AS most_train_busy,
            arg_max(exposed, busy) AS exposed,
            arg_max(feeding, busy) AS feeding,
            any_value(train_ns) AS train_ns
        FROM traced_devices
        GROUP BY recording, pid
    ),
    unsampled AS (
        SELECT trained.recording, trained.pid, trained.train_ns, trained.train_steps * trained.train_ns AS all_ns
        FROM _trained AS trained
        WHERE trained.train_steps > 0
            AND (trained.recording, trained.pid) NOT IN (SELECT (recording, pid) FROM traced)
            AND (trained.recording, trained.pid) NOT IN (SELECT (recording, pid) FROM ranges)
    ),
    blocked AS (
        SELECT
            _syncs.recording,
            _syncs.pid,
            _syncs.start_ns AS at_ns,
            _syncs.end_ns,
            _syncs.dur_ns,
            _syncs.name LIKE '%emcpy%' AS copies
        FROM _syncs
        JOIN unsampled ON unsampled.recording = _syncs.recording AND unsampled.pid = _syncs.pid
    ),
    waits AS (
        SELECT recording, pid, end_ns, dur_ns, copies
        FROM in_spans(blocked, _step_spans)
        WHERE trains
    ),
    -- Until when it is known what was launched after a wait; in how much of the time that is so.
    followed AS (
        SELECT waits.recording, waits.pid, waits.end_ns, CAST(NULL AS BIGINT) AS until_ns
        FROM waits
        WHERE NOT waits.copies
            AND waits.recording NOT IN (SELECT recording FROM _detail WHERE kind = 'cuda_launch')
        UNION ALL
        SELECT waits.recording, waits.pid, waits.end_ns, windows.end_ns
        FROM (SELECT recording, pid, end_ns FROM waits WHERE NOT copies) AS waits
        SEMI JOIN _detail ON _detail.recording = waits.recording AND _detail.kind = 'cuda_launch'
        ASOF JOIN detail_windows AS windows
            ON windows.recording = waits.recording
            AND windows.start_ns <= waits.end_ns
        WHERE windows.end_ns >= waits.end_ns
    ),
    watched AS (
        SELECT steps.recording, steps.pid, sum(steps.detail_share * steps.dur_ns) / sum(steps.dur_ns) AS share
        FROM steps
        JOIN unsampled ON unsampled.recording = steps.recording AND unsampled.pid = steps.pid
        SEMI JOIN _detail ON _detail.recording = steps.recording AND _detail.kind = 'cuda_launch'
        WHERE steps.step_kind = 'train'
        GROUP BY steps.recording, steps.pid
    ),
    launched AS (
        SELECT _launched.recording, _launched.pid, _launched.at_ns
        FROM _launched
        SEMI JOIN unsampled ON unsampled.recording = _launched.recording AND unsampled.pid = _launched.pid
    ),
    launching AS (
        SELECT DISTINCT recording, pid
        FROM launched
    ),
    drained AS (
        SELECT pauses.recording, pauses.pid, sum(pauses.idle_ns) AS idle_ns
        FROM (
            SELECT waits.recording, waits.pid, launched.at_ns - min(waits.end_ns) AS idle_ns
            FROM followed AS waits
            ASOF JOIN launched
                ON launched.recording = waits.recording
                AND launched.pid = waits.pid
                AND launched.at_ns >= waits.end_ns
            WHERE coalesce(launched.at_ns <= waits.until_ns, TRUE)
            GROUP BY waits.recording, waits.pid, launched.at_ns
        ) AS pauses
        WHERE (pauses.recording, pauses.pid) NOT IN (SELECT (recording, pid) FROM _rare_events WHERE kind = 'nccl')
        GROUP BY ALL
    ),
    worked AS (
        SELECT recording, pid, sum(dur_ns) AS busy_ns
        FROM waits
        WHERE NOT copies
        GROUP BY ALL
    ),
    limits AS (
        SELECT
            unsampled.recording,
            unsampled.pid,
            unsampled.train_ns,
            least(coalesce(drained.idle_ns / coalesce(watched.share, 1), 0) / unsampled.all_ns, 1) AS least_idle,
            least(coalesce(worked.busy_ns, 0) / unsampled.all_ns, 1) AS least_busy
        FROM unsampled
        JOIN launching ON launching.recording = unsampled.recording AND launching.pid = unsampled.pid
        LEFT JOIN drained ON drained.recording = unsampled.recording AND drained.pid = unsampled.pid
        LEFT JOIN watched ON watched.recording = unsampled.recording AND watched.pid = unsampled.pid
        LEFT JOIN worked ON worked.recording = unsampled.recording AND worked.pid = unsampled.pid
    ),
    bounded AS (
        SELECT
            recording,
            pid,
            least(least_busy, 1 - least_idle) AS least_busy,
            1 - least_idle AS most_busy,
            least(least_busy, 1 - least_idle) AS least_train_busy,
            1 - least_idle AS most_train_busy,
            TRUE AS unsampled,
            train_ns
        FROM limits
    ),
    best AS (
        SELECT traced.*
        FROM traced
        UNION ALL BY NAME
        SELECT sampled.*
        FROM sampled
        WHERE (recording, pid) NOT IN (SELECT (recording, pid) FROM traced)
        UNION ALL BY NAME
        SELECT bounded.*
        FROM bounded
    )
SELECT
    recording, -- recording
    pid, -- process that trains
    device, -- its GPU, as the driver counts them, by a trace as the process does
    samples, -- samples of the time from the first step to the end of the last; 0 by a trace, NULL where calls tell
    busy, -- share of that time in which a kernel ran, 0 to 1; NULL where only calls tell
    least_busy, -- the same at least, as far as so many samples tell; equal to busy by a trace
    most_busy, -- the same at most
    train_busy, -- share of the time of steps of kind train in which one ran; NULL where no sample tells
    least_train_busy, -- the same at least
    most_train_busy, -- the same at most
    greatest(1 - coalesce(train_busy, busy, (least_train_busy + most_train_busy) / 2), 0) * train_ns
        AS idle_ns, -- [ns] of a mean step of kind train in which none ran; the middle where only calls tell
    CASE WHEN unsampled THEN (1 - most_train_busy) * train_ns END
        AS least_idle_ns, -- [ns] the same at least, where only calls tell; NULL where a trace or samples do
    (1 - CASE WHEN train_busy IS NULL AND busy IS NOT NULL THEN least_busy ELSE least_train_busy END) * train_ns
        AS most_idle_ns, -- [ns] the same at most, for bounds
    exposed * train_ns AS exposed_communication_ns, -- [ns] in which only communication ran; NULL without a trace
    feeding * train_ns AS feeding_ns -- [ns] of idle_ns in which it fills, or copies not to the host; NULL as above
FROM best
ORDER BY recording, pid
