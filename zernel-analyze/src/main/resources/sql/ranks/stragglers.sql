-- Ranks that come late to collectives, one or several together, and what that costs: one row per group.
--
-- What nccl_straggler rests on, and how it counts. Of a job that still runs, as digests of its last seconds are, ranks
-- that have become late and are so to the end count from then on: a mean over all seconds would tell them much later.
--
-- needs: late_steps, steps, _rank_work, rank_arrivals, _wait_arrivals, gpu_busy, device_outliers, recordings
CREATE TABLE stragglers AS
WITH
    thresholds AS (
        SELECT
            0.05 AS min_delay, -- after the middle rank, as a share of a step
            3 AS min_late, -- steps with such a delay
            0.8 AS min_share, -- of them, those in which the rank was late
            0.5 AS min_lag, -- of the last rank's delay after the middle one
            5 AS min_last -- steps to the end of a job that still runs, since a rank has become late
    ),
    paces AS (
        SELECT recording, pid, avg(dur_ns) AS step_ns
        FROM steps
        WHERE step_kind <> 'warmup'
        GROUP BY ALL
    ),
    all_steps AS (
        SELECT
            late_steps.comm_id,
            late_steps.step,
            late_steps.number,
            late_steps.nranks,
            paces.step_ns,
            late_steps.step_ns AS own_step_ns,
            late_steps.skew_ns,
            late_steps.lag_ns,
            late_steps.error_ns,
            late_steps.cause,
            late_steps.cause_ns,
            late_steps.lag_ns >= thresholds.min_delay * paces.step_ns
                AND late_steps.skew_ns > late_steps.error_ns AS is_late,
            recordings.state = 'digest' AND recordings.stop IS NULL AS runs
        FROM late_steps
        JOIN paces ON paces.recording = late_steps.recording AND paces.pid = late_steps.pid
        JOIN recordings ON recordings.recording = late_steps.recording
        CROSS JOIN thresholds
        WHERE late_steps.step_kind <> 'warmup'
    ),
    -- Since when nearly every step is late, to the last one.
    since AS (
        SELECT comm_id, min(number) AS number, any_value(all_steps) AS all_steps
        FROM (
            SELECT
                comm_id,
                number,
                is_late,
                bool_and(runs) OVER (PARTITION BY comm_id) AS runs,
                count(*) OVER (PARTITION BY comm_id) AS all_steps,
                count(*) OVER to_last AS steps,
                count(CASE WHEN is_late THEN 1 END) OVER to_last AS late_steps
            FROM all_steps
            WINDOW to_last AS (
                PARTITION BY comm_id ORDER BY number ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
            )
        )
        CROSS JOIN thresholds
        WHERE runs AND is_late AND steps >= thresholds.min_last AND late_steps >= thresholds.min_share * steps
        GROUP BY comm_id
        HAVING count(*) < any_value(all_steps)
    ),
    worst AS (
        SELECT
            all_steps.* EXCLUDE (step_ns, own_step_ns, runs),
            CASE WHEN since.comm_id IS NULL THEN all_steps.step_ns ELSE all_steps.own_step_ns END AS step_ns,
            since.all_steps
        FROM all_steps
        LEFT JOIN since ON since.comm_id = all_steps.comm_id
        WHERE since.comm_id IS NULL OR all_steps.number >= since.number
    ),
    communicators AS (
        SELECT
            worst.comm_id,
            count(*) AS steps,
            any_value(worst.all_steps) AS all_steps,
            avg(worst.step_ns) AS step_ns,
            count(CASE WHEN worst.is_late THEN 1 END) AS late_steps
        FROM worst
        GROUP BY worst.comm_id
    ),
    arrivals AS (
        SELECT
            worst.comm_id,
            worst.number,
            worst.skew_ns,
            worst.error_ns,
            worst.cause,
            worst.cause_ns,
            arrivals.rank,
            arrivals.nranks,
            arrivals.recording,
            arrivals.pid,
            arrivals.clock,
            arrivals.at_ns,
            arrivals.lag_ns,
            arrivals.by_waits,
            arrivals.ranks_known,
            max(arrivals.lag_ns) OVER (PARTITION BY worst.comm_id, worst.number) AS most_ns
        FROM worst
        JOIN rank_arrivals AS arrivals ON arrivals.comm_id = worst.comm_id AND arrivals.number = worst.number
        WHERE worst.is_late
    ),
    members AS (
        SELECT
            arrivals.comm_id,
            arrivals.rank,
            arrivals.recording,
            arrivals.pid,
            any_value(arrivals.clock) AS clock,
            bool_or(arrivals.by_waits) AS by_waits,
            bool_and(arrivals.ranks_known) AS ranks_known,
            count(*) AS times_late
        FROM arrivals
        JOIN communicators ON communicators.comm_id = arrivals.comm_id
        CROSS JOIN thresholds
        WHERE arrivals.lag_ns > 0
            AND arrivals.lag_ns >= thresholds.min_lag * most_ns
            AND arrivals.skew_ns > arrivals.error_ns
        GROUP BY ALL
        HAVING count(*) >= any_value(greatest(thresholds.min_late, thresholds.min_share * communicators.late_steps))
    ),
    groups AS (
        SELECT
            comm_id,
            listed(list(rank ORDER BY rank)) AS ranks,
            count(*) AS members,
            count(DISTINCT clock) AS clocks,
            min(clock) AS clock,
            min(recording) AS recording,
            arg_min(pid, rank) AS pid,
            list({'recording': recording, 'pid': pid} ORDER BY rank) AS processes,
            min(times_late) AS times_late,
            bool_or(by_waits) AS by_waits,
            bool_and(ranks_known) AS ranks_known
        FROM members
        GROUP BY ALL
    ),
    delays AS (
        SELECT
            arrivals.comm_id,
            arrivals.number,
            any_value(arrivals.nranks) AS nranks,
            any_value(arrivals.skew_ns) AS skew_ns,
            any_value(arrivals.cause) AS cause,
            any_value(arrivals.cause_ns) AS cause_ns,
            max(arrivals.at_ns) - max(CASE WHEN members.rank IS NULL THEN arrivals.at_ns END) AS delay_ns,
            greatest(
                delay_ns,
                least(
                    min(CASE WHEN members.rank IS NULL THEN waits.wait_ns END),
                    CASE WHEN any_value(waits.wait_ns) IS NOT NULL THEN any_value(arrivals.cause_ns) END
                )
            ) AS saved_ns
        FROM arrivals
        LEFT JOIN _wait_arrivals AS waits
            ON waits.comm_id = arrivals.comm_id
            AND waits.number = arrivals.number
            AND waits.rank = arrivals.rank
        JOIN groups ON groups.comm_id = arrivals.comm_id
        LEFT JOIN members ON members.comm_id = arrivals.comm_id AND members.rank = arrivals.rank
        GROUP BY arrivals.comm_id, arrivals.number
    ),
    sums AS (
        SELECT
            comm_id,
            any_value(nranks) AS nranks,
            sum(delay_ns) AS delay_ns,
            sum(saved_ns) AS saved_ns,
            sum(greatest(skew_ns, saved_ns)) AS all_skew_ns,
            median(delay_ns) AS usual_ns,
            median(skew_ns) AS skew_ns
        FROM delays
        GROUP BY ALL
    ),
    others AS (
        SELECT arrivals.comm_id, max(work.work_ns) AS most_work_ns, min(work.work_ns) AS least_work_ns
        FROM (SELECT DISTINCT comm_id, rank, recording, pid FROM arrivals) AS arrivals
        JOIN _rank_work AS work ON work.recording = arrivals.recording AND work.pid = arrivals.pid
        LEFT JOIN members ON members.comm_id = arrivals.comm_id AND members.rank = arrivals.rank
        WHERE members.rank IS NULL
        GROUP BY ALL
    ),
    summed_causes AS (
        SELECT comm_id, cause, count(*) AS steps, sum(cause_ns) AS cause_ns
        FROM delays
        WHERE cause IS NOT NULL AND delay_ns > 0
        GROUP BY ALL
    ),
    main_causes AS (
        SELECT comm_id, arg_max(cause, cause_ns) AS cause, max(cause_ns) AS cause_ns
        FROM summed_causes
        GROUP BY ALL
    ),
    late AS (
        SELECT
            groups.comm_id,
            groups.ranks,
            groups.members,
            groups.clocks,
            groups.clock,
            groups.recording,
            groups.pid,
            groups.processes,
            groups.times_late,
            groups.by_waits,
            groups.ranks_known,
            sums.nranks,
            communicators.steps,
            communicators.all_steps,
            communicators.step_ns,
            least(
                sums.saved_ns / communicators.steps,
                communicators.step_ns - coalesce(others.most_work_ns, 0),
                CASE WHEN communicators.all_steps IS NULL THEN gpu_busy.idle_ns END
            ) AS lost_ns,
            least(
                sums.all_skew_ns / communicators.steps,
                communicators.step_ns - coalesce(others.least_work_ns, 0),
                CASE WHEN communicators.all_steps IS NULL THEN gpu_busy.most_idle_ns END
            ) AS most_ns,
            CASE WHEN communicators.all_steps IS NULL THEN gpu_busy.idle_ns END AS idle_ns,
            sums.usual_ns,
            sums.skew_ns,
            CASE
                -- Delays add up to more than all steps where ranks do not wait for each other on their CPUs.
                WHEN main_causes.cause_ns >= 0.3 * least(sums.delay_ns, communicators.steps * communicators.step_ns)
                    THEN main_causes.cause
                ELSE 'not known'
            END AS cause,
            main_causes.cause_ns / communicators.steps AS cause_ns
        FROM groups
        JOIN sums ON sums.comm_id = groups.comm_id
        JOIN communicators ON communicators.comm_id = groups.comm_id
        LEFT JOIN main_causes ON main_causes.comm_id = groups.comm_id
        LEFT JOIN others ON others.comm_id = groups.comm_id
        LEFT JOIN gpu_busy ON gpu_busy.recording = groups.recording AND gpu_busy.pid = groups.pid
        CROSS JOIN thresholds
        WHERE NOT (coalesce(main_causes.cause, '') = 'checkpoint' AND 2 * groups.times_late < communicators.steps)
    ),
    -- A GPU with a lower clock: its rank calls in time, and the others wait all the same.
    slow_gpus AS (
        SELECT
            worst.comm_id,
            CAST(any_value(arrivals.rank) AS VARCHAR) AS ranks,
            1 AS members,
            1 AS clocks,
            any_value(arrivals.clock) AS clock,
            busy.recording,
            busy.pid,
            [{'recording': busy.recording, 'pid': busy.pid}] AS processes,
            count(DISTINCT worst.step) AS times_late,
            FALSE AS by_waits,
            TRUE AS ranks_known,
            max(worst.nranks) AS nranks,
            count(DISTINCT worst.step) AS steps,
            any_value(worst.all_steps) AS all_steps,
            avg(worst.step_ns) AS step_ns,
            avg(worst.step_ns) * any_value(busy.busy) * (1 - any_value(odd.value / odd.median_value)) AS lost_ns,
            avg(worst.step_ns) * (1 - any_value(odd.value / odd.median_value)) AS most_ns,
            NULL AS idle_ns,
            NULL AS usual_ns,
            NULL AS skew_ns,
            'GPU clock' AS cause,
            NULL AS cause_ns,
            any_value(format('GPU {} is busy {} of the time and runs at {} MHz, the others at {:.0f} MHz (medians); ',
                busy.device, pct(busy.busy), odd.value, odd.median_value)) AS why
        FROM device_outliers AS odd
        JOIN gpu_busy AS busy ON busy.recording = odd.recording AND busy.device = odd.device
        JOIN rank_arrivals AS arrivals ON arrivals.recording = busy.recording AND arrivals.pid = busy.pid
        JOIN worst ON worst.comm_id = arrivals.comm_id AND worst.number = arrivals.number
        WHERE odd.what = 'device' AND odd.name = 'clock_sm' AND odd.value < odd.median_value
        GROUP BY worst.comm_id, busy.recording, busy.pid
    )
SELECT
    comm_id, -- communicator, the same number in all ranks; below 0 for jobs without NCCL
    ranks, -- their numbers, as text
    members, -- how many they are
    clocks, -- machines they are on
    clock, -- the first of these
    recording, -- recording of one of them
    pid, -- its process, where it is one
    processes, -- recording and process of each
    times_late, -- steps in which all of them are late
    by_waits, -- whether that follows from how long the others wait
    ranks_known, -- whether `ranks` are their ranks
    nranks, -- ranks of the communicator
    steps, -- steps with collectives, without warm-up
    all_steps, -- the same before they have become late, too; NULL where `steps` are all
    step_ns, -- [ns] mean step
    lost_ns, -- [ns] of it, that the last of the others waits for them
    most_ns, -- [ns] of it, saved at most, when they come with the first
    idle_ns, -- [ns] of it in which the GPU of one of them is idle; NULL where that is not known
    usual_ns, -- [ns] median delay after the last of the others; NULL of a slow GPU
    skew_ns, -- [ns] median delay after the first; NULL of a slow GPU
    cause, -- as in late_steps, `GPU clock` or `not known`
    cause_ns, -- [ns] of a step spent more on it than the others; NULL where it is not known
    why -- what says so, of a slow GPU
FROM (
    SELECT late.*, CAST(NULL AS VARCHAR) AS why
    FROM late
    UNION ALL
    SELECT slow_gpus.*
    FROM slow_gpus
)
