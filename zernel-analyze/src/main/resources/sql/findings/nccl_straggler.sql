-- One rank comes late to collectives. All other ranks wait for it in every step.
--
-- Of each step, the collective with the largest delay counts, if that is a twentieth of a step. A rank is late there
-- when it comes at least half as late after the middle rank as the last one does; ranks that are late together, such as
-- those of a slow machine, are one finding. Lost is what is gained if they came with the last of the others: at most
-- the time in which the late rank's own GPU is idle, where the driver's samples say that. A GPU with a lower clock than
-- the others makes its rank late without the CPU; lost is then its busy time less that at the clock of the others.
-- Without NCCL, as with gloo, all waits of a step in torch.distributed count as one collective: the rank that waits
-- least came last. Lost is what the others wait longer, or what makes it late, as far as the others wait so long: an
-- exchange that began before the late rank came takes longer for it, too. Where it computes more, the evidence says
-- what is saved if that work is not left out, but shared out equally among all ranks.
-- Of a job that still runs, a rank that has become late some steps ago counts from then on.
-- Does not apply where ranks take turns in being late (uneven_ranks), nor to delays below the error of the clocks of
-- several machines, nor to checkpoints that one rank writes now and then (checkpoint_stall).
--
-- needs: stragglers, host_clocks, recording_clocks, files, _object_exchanges
-- severity: high from 25 % of step time, medium from 10 %
-- hint: zernel-analyze nccl --ranks shows how often each rank came last, and why
-- lines: that work OF other WHERE works AND NOT in_forward
-- lines: that work OF objects WHERE works AND NOT in_forward
-- lines: the sleep OF asleep WHERE thread = 'training' AND state = 'asleep' AND step_kind = 'train' AND NOT loads
-- lines: the loading OF data wait WHERE loads
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps with collectives, without warm-up
            3 AS min_traced_steps, -- the same of a trace
            0.03 AS min_lost, -- delay per step, as a share of step time
            0.5 AS min_objects -- share of its time in no call, from which on objects that it exchanges are the cause
    ),
    late AS (
        SELECT
            stragglers.* REPLACE (
                CASE WHEN objects.pid IS NOT NULL THEN 'objects' ELSE stragglers.cause END AS cause
            ),
            objects.function,
            row_number() OVER (
                PARTITION BY stragglers.recording, stragglers.pid
                ORDER BY lost_ns DESC, comm_id
            ) AS place
        FROM stragglers
        CROSS JOIN thresholds
        LEFT JOIN _object_exchanges AS objects
            ON objects.recording = stragglers.recording
            AND objects.pid = stragglers.pid
            AND stragglers.cause = 'other'
            AND objects.work_share >= thresholds.min_objects
        WHERE lost_ns >= thresholds.min_lost * step_ns
            AND steps >= CASE
                WHEN stragglers.recording IN (SELECT recording FROM files WHERE state = 'trace')
                    THEN thresholds.min_traced_steps
                ELSE thresholds.min_steps
            END
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
            ('objects', '{} more of its time lies outside every recorded call, most in {function}, which turns Python '
                    || 'objects into bytes while the others wait',
                'exchange objects once or rarely, and few of them; numbers as tensors (broadcast, all_gather)'),
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
            ELSE format(
                'late in {} of {} steps{}, then {} after the last of the others and {} after the first (medians)',
                times_late,
                CASE WHEN all_steps IS NULL THEN '' ELSE 'the last ' END || steps,
                coalesce(format(' of {}', all_steps), ''),
                ms(usual_ns),
                ms(skew_ns)
            )
        END
            || CASE
                WHEN errors.error_ns IS NOT NULL THEN format(', clocks compared to +-{}; ', ms(errors.error_ns))
                ELSE '; '
            END
    )
        || coalesce(
            replace(
                replace(causes.evidence, '{}', coalesce(ms(cause_ns), '')),
                '{function}',
                coalesce(stragglers.function, '')
            ) || '; ',
            ''
        )
        || CASE
            WHEN stragglers.cause = 'compute'
                THEN format('shared out equally among all ranks, that alone saves {}; ',
                    ms(least(lost_ns, coalesce(cause_ns, lost_ns)) * (nranks - members) / nranks))
            ELSE ''
        END
        || coalesce(format('its GPU is idle {} of a step; ', ms(idle_ns)), '') AS evidence, -- what it rests on
    replace(causes.advice, '{}', CAST(pid AS VARCHAR)) AS advice, -- what to try
    CASE stragglers.cause
        WHEN 'GPU clock' THEN 'zernel-analyze sql {} "FROM device_outliers"'
        ELSE 'zernel-analyze nccl --ranks {}'
    END AS next_command, -- to see more
    stragglers.cause -- one of causes
FROM late AS stragglers
JOIN causes ON causes.cause = stragglers.cause
LEFT JOIN recording_clocks AS clocks ON clocks.recording = stragglers.recording
LEFT JOIN errors ON errors.clock = stragglers.clock
WHERE place = 1
