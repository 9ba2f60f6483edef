-- One rank comes late to collectives. All other ranks wait for it in every step.
--
-- Of each step, the collective with the largest delay counts, if that is a twentieth of a step. A rank is late there
-- when it comes at least half as late after the middle rank as the last one does; ranks that are late together, such as
-- those of a slow machine, are one finding. Lost is what is gained if they came with the last of the others: at most
-- the time in which the late rank's own GPU is idle, where the driver's samples say that. A GPU with a lower clock than
-- the others makes its rank late without the CPU; lost is then its busy time less that at the clock of the others.
-- Without NCCL, as with gloo, all waits of a step in torch.distributed count as one collective: the rank that waits
-- least came last. Lost is what the others wait longer, or what makes it late, as far as the others wait so long: an
-- exchange that began before the late rank came takes longer for it, too.
-- Does not apply where ranks take turns in being late, nor to delays below the error of the clocks of several machines,
-- nor to checkpoints that one rank writes now and then (checkpoint_stall).
--
-- needs: late_steps, steps, step_work, rank_arrivals, _wait_arrivals, host_clocks, recording_clocks, gpu_busy
-- needs: device_outliers, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: zernel-analyze nccl --ranks shows how often each rank came last, and why
-- lines: that work OF other WHERE works AND NOT in_forward
-- lines: the sleep OF asleep WHERE thread = 'training' AND state = 'asleep' AND step_kind = 'train' AND NOT loads
-- lines: the loading OF data wait WHERE loads
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps with collectives, without warm-up
            0.05 AS min_delay, -- after the middle rank, as a share of a step
            3 AS min_late, -- steps with such a delay
            0.8 AS min_share, -- of them, those in which the rank was late
            0.5 AS min_lag, -- of the last rank's delay after the middle one
            0.03 AS min_lost -- delay per step, as a share of step time
    ),
    paces AS (
        SELECT recording, pid, avg(dur_ns) AS step_ns
        FROM steps
        WHERE step_kind <> 'warmup'
        GROUP BY ALL
    ),
    worst AS (
        SELECT
            late_steps.comm_id,
            late_steps.step,
            late_steps.number,
            late_steps.nranks,
            paces.step_ns,
            late_steps.skew_ns,
            late_steps.lag_ns,
            late_steps.error_ns,
            late_steps.cause,
            late_steps.cause_ns
        FROM late_steps
        JOIN paces ON paces.recording = late_steps.recording AND paces.pid = late_steps.pid
        WHERE late_steps.step_kind <> 'warmup'
    ),
    communicators AS (
        SELECT
            worst.comm_id,
            count(*) AS steps,
            avg(worst.step_ns) AS step_ns,
            count(CASE WHEN lag_ns >= min_delay * step_ns THEN 1 END) AS late_steps
        FROM worst
        CROSS JOIN thresholds
        GROUP BY ALL
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
        CROSS JOIN thresholds
        WHERE worst.lag_ns >= thresholds.min_delay * worst.step_ns
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
    -- A call that enqueues waits when the queue of the GPU is full; where no launches were recorded, none is seen to.
    work AS (
        SELECT
            recording,
            pid,
            avg(greatest(dur_ns - launch_ns - copy_ns - sync_ns - collective_ns - dist_wait_ns, 0)) AS work_ns
        FROM step_work
        WHERE step_kind <> 'warmup' AND launch_ns IS NOT NULL
        GROUP BY ALL
        HAVING sum(launches + graph_launches) > 0
    ),
    others AS (
        SELECT arrivals.comm_id, max(work.work_ns) AS most_work_ns, min(work.work_ns) AS least_work_ns
        FROM (SELECT DISTINCT comm_id, rank, recording, pid FROM arrivals) AS arrivals
        JOIN work ON work.recording = arrivals.recording AND work.pid = arrivals.pid
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
            groups.times_late,
            groups.by_waits,
            groups.ranks_known,
            sums.nranks,
            communicators.steps,
            communicators.step_ns,
            least(
                sums.saved_ns / communicators.steps,
                communicators.step_ns - coalesce(others.most_work_ns, 0),
                gpu_busy.idle_ns
            ) AS lost_ns,
            least(
                sums.all_skew_ns / communicators.steps,
                communicators.step_ns - coalesce(others.least_work_ns, 0),
                gpu_busy.most_idle_ns
            ) AS most_ns,
            gpu_busy.idle_ns,
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
            count(DISTINCT worst.step) AS times_late,
            FALSE AS by_waits,
            TRUE AS ranks_known,
            max(worst.nranks) AS nranks,
            count(DISTINCT worst.step) AS steps,
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
    ),
    all_stragglers AS (
        SELECT late.*, NULL AS why
        FROM late
        UNION ALL
        SELECT slow_gpus.*
        FROM slow_gpus
    ),
    stragglers AS (
        SELECT
            all_stragglers.*,
            row_number() OVER (PARTITION BY recording, pid ORDER BY lost_ns DESC, comm_id) AS place
        FROM all_stragglers
        CROSS JOIN thresholds
        WHERE steps >= thresholds.min_steps AND lost_ns >= thresholds.min_lost * step_ns
    ),
    errors AS (
        SELECT clock, max(error_ns) AS error_ns
        FROM host_clocks
        GROUP BY ALL
    ),
    -- What is said of a cause, `{}` for its time, and what to try, `{}` for the process.
    causes AS (
        SELECT cause, evidence, advice
        FROM (VALUES
            ('data wait', 'it waits {} longer for data than the others',
                'look at the input of this rank: its shard, its storage, its workers'),
            ('preemption', 'it waits {} longer for a CPU than the other ranks',
                'free CPUs for this rank: other processes on its machine, CPU limits, affinity'),
            ('allocation', 'it allocates device memory for {} longer',
                'look at why only this rank allocates: longer inputs, less free memory'),
            ('checkpoint', 'it opens checkpoint files and takes {} longer',
                'write checkpoints in the background, or from all ranks (torch.distributed.checkpoint)'),
            ('compute', 'its forward, backward and optimizer take {} longer on the CPU',
                'look at what this rank computes more: longer sequences, uneven shards, a slower CPU'),
            ('asleep', 'it is asleep for {} longer, not waiting for data or ranks',
                'find what it waits for (a lock, a file, a program, time.sleep): py-spy dump --pid {}'),
            ('GPU clock', NULL,
                'look at cooling, power and clocks of its GPU: nvidia-smi -q -d PERFORMANCE,CLOCK'),
            ('slow GPU', 'it waits {} longer for its own GPU',
                'compare its GPU with the others: clocks, throttling, power limit, other processes on it'),
            ('other', '{} more of its time lies outside every recorded call',
                'look at what only this rank does: logging, checkpoints, evaluation'),
            ('not known', 'no part of its steps is longer than those of the others',
                'compare its CPUs with those of the others: load, affinity, clocks')
        ) AS texts (cause, evidence, advice)
    )
SELECT
    stragglers.recording, -- recording
    CASE
        WHEN members = 1 AND NOT ranks_known THEN format('one of {} ranks, ', nranks)
        ELSE CASE WHEN members = 1 THEN 'rank ' ELSE 'ranks ' END || ranks || format(' of {}, ', nranks)
    END
        || CASE
            WHEN members = 1 THEN _process_label(stragglers.recording, pid, pid)
            WHEN clocks = 1 THEN 'host ' || coalesce(clocks.host, stragglers.clock)
            ELSE format('{} hosts', clocks)
        END AS subject, -- the late rank, or ranks
    CASE WHEN members = 1 THEN pid END AS pid, -- its process, where it is one
    round(coalesce(usual_ns, lost_ns) / 1e6, 1) AS value, -- median delay after the last of the others
    'ms late' AS unit, -- unit of value
    step_ns, -- [ns] step
    lost_ns, -- [ns] that the last of the others waits for it
    most_ns AS bound_ns, -- [ns] saved at most, when it comes with the first
    coalesce(
        why,
        CASE
            WHEN by_waits THEN format('the others wait for it in {} of {} steps, ', times_late, steps)
                || format('the last of them {} longer than it does, ', ms(usual_ns))
                || format('the first {} (medians, torch.distributed)', ms(skew_ns))
            ELSE format('late in {} of {} steps, then {} after the last of the others and {} after the first (medians)',
                times_late, steps, ms(usual_ns), ms(skew_ns))
        END
            || CASE
                WHEN errors.error_ns IS NOT NULL THEN format(', clocks compared to +-{}; ', ms(errors.error_ns))
                ELSE '; '
            END
    )
        || coalesce(replace(causes.evidence, '{}', coalesce(ms(cause_ns), '')) || '; ', '')
        || coalesce(format('its GPU is idle {} of a step; ', ms(idle_ns)), '') AS evidence, -- what it rests on
    replace(causes.advice, '{}', CAST(pid AS VARCHAR)) AS advice, -- what to try
    CASE stragglers.cause
        WHEN 'GPU clock' THEN 'zernel-analyze sql {} "FROM device_outliers"'
        ELSE 'zernel-analyze nccl --ranks {}'
    END AS next_command, -- to see more
    stragglers.cause -- one of causes
FROM stragglers
JOIN causes ON causes.cause = stragglers.cause
LEFT JOIN recording_clocks AS clocks ON clocks.recording = stragglers.recording
LEFT JOIN errors ON errors.clock = stragglers.clock
WHERE place = 1
