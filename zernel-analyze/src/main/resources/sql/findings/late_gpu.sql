-- The GPU of one rank comes late to collectives. Those of all other ranks wait for it inside theirs.
--
-- By traces of several ranks: where a rank is late in at least half of the steps and others hardly ever, lost is what
-- all others communicate longer than it does, with no computation meanwhile, at most what the one does that waits
-- longest. Where some ranks of the job are not opened, one of these may be as late, and what is saved is not known.
-- In a pipeline it is the stage that takes longest. Where layers move to others, these take longer: less is saved.
-- Does not apply to jobs of which calls of NCCL were recorded (nccl_straggler), nor where ranks take turns.
--
-- needs: late_gpus, _collective_calls
-- severity: high from 25 % of step time, medium from 10 %
-- hint: the view late_gpus compares all ranks
WITH
    thresholds AS (
        SELECT
            3 AS min_late, -- steps in which the rank is late
            0.5 AS min_share, -- of all steps that all ranks have, those in which it is
            0.8 AS min_times, -- of the steps in which any rank is late
            0.03 AS min_lost, -- delay per step, as a share of step time
            0.5 AS explains, -- of the delay, from which on what it does longer is the cause
            0.02 AS same -- by which kernels per step may differ and be as many
    ),
    late AS (
        SELECT
            late_gpus.*,
            compute_ns - others_compute_ns AS compute_more_ns,
            abs(kernels - others_kernels) <= same * others_kernels AS is_same,
            CASE
                WHEN compute_ns - others_compute_ns >= explains * late_ns THEN 'compute'
                WHEN data_more_ns >= explains * late_ns THEN 'data wait'
                WHEN idle_more_ns >= explains * late_ns THEN 'idle'
            END AS cause
        FROM late_gpus
        CROSS JOIN thresholds
        WHERE times_late >= min_late
            AND times_late >= min_share * steps
            AND times_late >= min_times * times
            AND late_ns >= min_lost * step_ns
            AND (recording, pid) NOT IN (SELECT (recording, pid) FROM _collective_calls)
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    late_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    late_ns AS lost_ns, -- [ns] that all others wait for it
    most_late_ns AS bound_ns, -- [ns] that the one waits that waits longest
    CASE WHEN world_size > ranks THEN 0 ELSE late_ns END AS least_lost_ns, -- [ns] nothing, where ranks are not opened
    format('its GPU communicates {}least in {} of {} steps: {} of {}, that of each other rank {} or more longer{}, as '
            || 'it waits',
        CASE WHEN is_pipeline THEN 'without computation ' ELSE '' END, times_late, steps, ms(communication_ns),
        ms(step_ns), ms(late_ns), CASE WHEN is_pipeline THEN '' ELSE ' with no computation meanwhile' END)
        || coalesce(
            CASE cause
                WHEN 'compute' THEN format('; it computes {} longer than the others, in ', ms(compute_more_ns))
                    || CASE
                        WHEN is_same THEN format('as many kernels ({:.0f} a step)', kernels)
                        ELSE format('{:.0f} kernels a step, the others in {:.0f}', kernels, others_kernels)
                    END
                WHEN 'data wait' THEN format('; it waits {} longer for data than the others', ms(data_more_ns))
                WHEN 'idle' THEN format('; it is idle {} longer than the others', ms(idle_more_ns))
            END,
            ''
        )
        || CASE
            WHEN world_size > ranks
                THEN format('; {} of {} ranks are opened, another may be as late', ranks, world_size)
            ELSE ''
        END AS evidence, -- what it rests on
    CASE
        WHEN cause = 'compute' AND is_pipeline
            THEN 'move layers from this stage of the pipeline to others, until all take as long; where it has no more '
                || 'than others, compare clocks, power and cooling of its GPU (nvidia-smi -q -d PERFORMANCE,CLOCK)'
        WHEN cause = 'compute' AND is_same
            THEN 'compare clocks, power and cooling of its GPU with the others (nvidia-smi -q -d PERFORMANCE,CLOCK), '
                || 'and the sizes of its batches'
        WHEN cause = 'compute' THEN 'look at what this rank computes more: longer sequences, uneven shards'
        WHEN cause = 'data wait' THEN 'look at the input of this rank: its shard, its storage, its workers'
        WHEN cause = 'idle'
            THEN 'look at why its GPU has nothing to do: what its program does then, its CPUs, its other findings'
        ELSE 'compare its GPU and its links with the others'
    END AS advice, -- what to try
    'zernel-analyze gpu --idle {}' AS next_command -- to see more
FROM late
