-- Stacks in a rollout of reinforcement learning: in an environment, or in the function that runs them.
--
-- Environments are told by packages that have nothing else (Gymnasium and its like), functions by their usual names.
--
-- needs: _stack_frames
CREATE VIEW _environment_stacks AS
SELECT
    id -- number of the stack
FROM _stack_frames
WHERE NOT native
    AND (
        module IN ('gymnasium', 'gym', 'pettingzoo', 'envpool', 'dm_control', 'ale_py', 'procgen', 'minigrid')
        OR regexp_matches(function, '(^|\.)(collect_)?rollouts?$')
    )
GROUP BY id;

-- How much of what training threads compute in slow steps, for which no reason is known, is in rollouts.
--
-- By samples.
--
-- needs: step_outliers, _step_samples, _environment_stacks
-- digest: kept
CREATE TABLE _rollout_shares AS
SELECT
    slow.recording, -- recording
    slow.pid, -- process
    slow.tid, -- training thread
    count(stacks.id) / count(*) AS share -- of its samples in such steps, 0 to 1
FROM _step_samples AS samples
ASOF JOIN step_outliers AS slow
    ON slow.recording = samples.recording
    AND slow.pid = samples.pid
    AND slow.tid = samples.tid
    AND slow.start_ns <= samples.middle_ns
LEFT JOIN _environment_stacks AS stacks ON stacks.id = samples.id
WHERE samples.middle_ns < slow.start_ns + slow.dur_ns AND slow.reason IS NULL
GROUP BY slow.recording, slow.pid, slow.tid;

-- Some steps take much longer than the rest, or all do from some step on.
--
-- The median step is the baseline, the median deviation its spread. Counted is the time over the median: of slow steps,
-- or of all steps from a change of pace on. Slow steps at equal distances are said to be so. Warm-up and
-- evaluation are left out. The phase named is the one that grew most, summed over the slow steps. Ranks of a job wait
-- for each other and are slow together, so one stands for all: the one that others wait for in most of their slow
-- steps, if its own are slow too, else of those that lost most one whose slow steps are no waits, and whom it waits
-- for. Steps of real jobs vary: a few slow ones at no distance of their own are only worth a word from a tenth of all
-- step time on, and from a fifth in a trace of less than twenty steps. Rollouts of reinforcement learning are what such
-- a training is made of: slow steps that have them are of low severity, and nothing is said to be lost.
-- Does not apply to steps with a known reason (view step_outliers): a checkpoint (checkpoint_stall), the begin of a
-- pass over the data (worker_startup), a pause outside every call (gc_stall), a wait for another thread or process
-- (blocked_on_thread, blocked_on_process), a rank that is always the late one (nccl_straggler), another process on the
-- GPU just then (gpu_shared), waits of a job whose input is too slow (data_bound, storage_bound, too_few_workers), and
-- waits of a program far ahead of its GPU: in a sync every few steps, for room to launch, or for data that the GPU does
-- not miss. Nor to steps that take longer and longer (growing_steps).
--
-- needs: steps, step_outliers, step_changes, step_trends, _shared_steps, _ranked, _rank_jobs, _job_steps, late_steps
-- needs: phase_words, files, _rollout_shares
-- severity: high from 25 % of step time, medium from 10 %; low of rollouts
-- hint: `zernel-analyze steps` lists every step with its phases
-- lines: what they have more BY excess_ns WHERE thread = 'training' AND step_class IN ('train', 'slow')
WITH
    thresholds AS (
        SELECT
            20 AS min_steps, -- steps
            10 AS min_regular_steps, -- the same with slow ones at equal distances, or of a trace with very slow ones
            0.9 AS as_much, -- of what the rank of a job loses that loses most: with so much one may stand for all
            0.2 AS very_slow_share, -- excess of these, as a share of all step time
            0.02 AS min_share, -- excess of all slow steps, as a share of all step time
            0.1 AS min_irregular_share, -- the same of slow steps at no equal distances
            3 AS min_repeats, -- slow steps at equal distances
            0.6 AS min_regular, -- share of distances that are equal
            2 AS more_syncs, -- waits for the GPU more than usual, between which it computes
            0.5 AS min_waits, -- of a slow step's excess, and of slow steps: for one other rank, that comes late
            0.5 AS shared, -- of steps on a GPU that is shared, after a change of pace and not before it
            0.05 AS min_rollouts -- of the samples in slow steps, in rollouts: more than a log of their results
    ),
    threads AS (
        SELECT recording, pid, tid, count(*) AS steps, sum(dur_ns) AS all_ns, count(*) * median(dur_ns) AS usual_all_ns
        FROM steps
        WHERE step_kind IN ('train', 'checkpoint')
        GROUP BY ALL
    ),
    slow AS (
        SELECT
            recording,
            pid,
            tid,
            step,
            dur_ns,
            usual_ns,
            phase,
            phase_excess_ns,
            syncs,
            usual_syncs,
            step - lag(step) OVER (PARTITION BY recording, pid, tid ORDER BY step) AS distance
        FROM step_outliers
        WHERE reason IS NULL
    ),
    distances AS (
        SELECT recording, pid, tid, mode(distance ORDER BY distance) AS distance
        FROM slow
        GROUP BY ALL
    ),
    grown AS (
        SELECT
            slow.recording,
            slow.pid,
            slow.tid,
            count(*) AS slow_steps,
            -- A program that runs ahead of its GPU catches up in the steps after: that much is not lost.
            greatest(
                least(sum(slow.dur_ns - slow.usual_ns), any_value(threads.all_ns) - any_value(threads.usual_all_ns)),
                0
            ) AS excess_ns,
            max(slow.dur_ns) AS worst_ns,
            arg_max(slow.step, slow.dur_ns) AS worst_step,
            median(slow.usual_ns) AS usual_ns,
            median(slow.syncs) AS syncs,
            median(slow.usual_syncs) AS usual_syncs,
            any_value(distances.distance) AS distance,
            count(CASE WHEN slow.distance = distances.distance THEN 1 END) AS regular
        FROM slow
        JOIN threads ON threads.recording = slow.recording AND threads.pid = slow.pid AND threads.tid = slow.tid
        JOIN distances
            ON distances.recording = slow.recording
            AND distances.pid = slow.pid
            AND distances.tid = slow.tid
        GROUP BY ALL
    ),
    phases_grown AS (
        SELECT recording, pid, tid, phase, sum(phase_excess_ns) AS excess_ns
        FROM slow
        GROUP BY ALL
    ),
    worst_phases AS (
        SELECT recording, pid, tid, arg_max(phase, excess_ns) AS phase, max(excess_ns) AS phase_ns
        FROM phases_grown
        GROUP BY ALL
    ),
    -- Changes of pace that come with another process on the GPU.
    shared AS (
        SELECT steps.recording, steps.pid, steps.tid
        FROM steps
        JOIN step_changes AS changes
            ON changes.recording = steps.recording
            AND changes.pid = steps.pid
            AND changes.tid = steps.tid
        LEFT JOIN _shared_steps AS shared
            ON shared.recording = steps.recording
            AND shared.pid = steps.pid
            AND shared.tid = steps.tid
            AND shared.step = steps.step
        CROSS JOIN thresholds
        WHERE steps.step_kind = 'train'
        GROUP BY steps.recording, steps.pid, steps.tid, changes.step
        HAVING avg(CASE WHEN shared.step IS NULL THEN 0 ELSE 1 END) FILTER (WHERE steps.step >= changes.step)
                >= any_value(thresholds.shared)
            AND avg(CASE WHEN shared.step IS NULL THEN 0 ELSE 1 END) FILTER (WHERE steps.step < changes.step)
                < any_value(thresholds.shared)
    ),
    shifts AS (
        SELECT
            changes.recording,
            changes.pid,
            changes.tid,
            changes.step,
            changes.steps_after,
            changes.before_ns,
            changes.after_ns,
            changes.p,
            greatest(
                median(steps.data_loading_ns) FILTER (WHERE steps.step >= changes.step)
                    - median(steps.data_loading_ns) FILTER (WHERE steps.step < changes.step),
                0
            ) AS data_ns,
            median(steps.gpu_compute_ns) FILTER (WHERE steps.step >= changes.step)
                - median(steps.gpu_compute_ns) FILTER (WHERE steps.step < changes.step) AS compute_ns,
            median(steps.nccl_collective_ns) FILTER (WHERE steps.step >= changes.step)
                - median(steps.nccl_collective_ns) FILTER (WHERE steps.step < changes.step) AS collective_ns,
            median(steps.optimizer_step_ns) FILTER (WHERE steps.step >= changes.step)
                - median(steps.optimizer_step_ns) FILTER (WHERE steps.step < changes.step) AS optimizer_ns,
            median(steps.unknown_ns) FILTER (WHERE steps.step >= changes.step)
                - median(steps.unknown_ns) FILTER (WHERE steps.step < changes.step) AS unknown_ns
        FROM step_changes AS changes
        JOIN steps
            ON steps.recording = changes.recording
            AND steps.pid = changes.pid
            AND steps.tid = changes.tid
        WHERE changes.after_ns > changes.before_ns
            AND steps.step_kind = 'train'
            AND (changes.recording, changes.pid, changes.tid) NOT IN (SELECT recording, pid, tid FROM shared)
            AND (changes.recording, changes.pid, changes.tid) NOT IN (SELECT recording, pid, tid FROM step_trends)
        GROUP BY ALL
    ),
    named_shifts AS (
        SELECT
            shifts.*,
            CASE greatest(data_ns, compute_ns, collective_ns, optimizer_ns, unknown_ns)
                WHEN data_ns THEN 'DataLoading'
                WHEN compute_ns THEN 'GpuCompute'
                WHEN collective_ns THEN 'NcclCollective'
                WHEN optimizer_ns THEN 'OptimizerStep'
                ELSE 'Unknown'
            END AS phase,
            greatest(data_ns, compute_ns, collective_ns, optimizer_ns, unknown_ns) AS phase_ns
        FROM shifts
    ),
    paced AS (
        SELECT
            grown.*,
            grown.slow_steps >= thresholds.min_repeats
                AND coalesce(grown.distance > 1, FALSE)
                AND grown.regular >= thresholds.min_regular * (grown.slow_steps - 1) AS is_regular,
            worst_phases.phase = 'GpuCompute'
                AND coalesce(grown.syncs >= grown.usual_syncs + thresholds.more_syncs, FALSE) AS waits_again
        FROM grown
        JOIN worst_phases
            ON worst_phases.recording = grown.recording
            AND worst_phases.pid = grown.pid
            AND worst_phases.tid = grown.tid
        CROSS JOIN thresholds
    ),
    all_slow AS (
        SELECT
            grown.recording,
            grown.pid,
            grown.tid,
            'some' AS what,
            CASE WHEN grown.is_regular THEN thresholds.min_share ELSE thresholds.min_irregular_share END AS min_share,
            CASE
                WHEN grown.is_regular OR (files.state = 'trace' AND grown.excess_ns >= very_slow_share * threads.all_ns)
                    THEN thresholds.min_regular_steps
                ELSE thresholds.min_steps
            END AS min_steps,
            grown.worst_step AS step,
            grown.slow_steps,
            threads.steps,
            threads.all_ns,
            grown.excess_ns,
            CASE
                WHEN grown.waits_again THEN 'besides'
                WHEN worst_phases.phase = 'Unknown' AND rollouts.share >= thresholds.min_rollouts THEN 'rollouts'
                ELSE worst_phases.phase
            END AS phase,
            format('median {}, worst {} (step {}){}; {} of the {} over the median: {}',
                ms(grown.usual_ns), ms(grown.worst_ns), grown.worst_step,
                CASE WHEN grown.is_regular THEN format(', every {} steps', grown.distance) ELSE '' END,
                pct(least(worst_phases.phase_ns / greatest(grown.excess_ns, 1), 1)), ms(grown.excess_ns),
                coalesce(words.words, worst_phases.phase))
                || CASE
                    WHEN grown.waits_again
                    THEN format(', with {:.0f} waits for the GPU in a step where {:.0f} are usual',
                        grown.syncs, grown.usual_syncs)
                    ELSE ''
                END AS why
        FROM paced AS grown
        JOIN threads ON threads.recording = grown.recording AND threads.pid = grown.pid AND threads.tid = grown.tid
        JOIN files ON files.recording = grown.recording
        JOIN worst_phases
            ON worst_phases.recording = grown.recording
            AND worst_phases.pid = grown.pid
            AND worst_phases.tid = grown.tid
        LEFT JOIN _rollout_shares AS rollouts
            ON rollouts.recording = grown.recording
            AND rollouts.pid = grown.pid
            AND rollouts.tid = grown.tid
        LEFT JOIN phase_words AS words
            ON words.recording = grown.recording
            AND words.pid = grown.pid
            AND words.phase = worst_phases.phase
        CROSS JOIN thresholds
        UNION ALL
        SELECT
            named_shifts.recording,
            named_shifts.pid,
            named_shifts.tid,
            'all from a step on',
            thresholds.min_share,
            thresholds.min_steps,
            named_shifts.step,
            named_shifts.steps_after,
            threads.steps,
            threads.all_ns,
            (named_shifts.after_ns - named_shifts.before_ns) * named_shifts.steps_after,
            named_shifts.phase,
            format('from step {} on steps take {} instead of {} (p {:.1g}); {} of it: {}',
                named_shifts.step, ms(named_shifts.after_ns), ms(named_shifts.before_ns), named_shifts.p,
                ms(named_shifts.phase_ns), coalesce(words.words, named_shifts.phase))
        FROM named_shifts
        JOIN threads
            ON threads.recording = named_shifts.recording
            AND threads.pid = named_shifts.pid
            AND threads.tid = named_shifts.tid
        LEFT JOIN phase_words AS words
            ON words.recording = named_shifts.recording
            AND words.pid = named_shifts.pid
            AND words.phase = named_shifts.phase
        CROSS JOIN thresholds
    ),
    ranks AS (
        SELECT ranks.recording, ranks.pid, jobs.job
        FROM _ranked AS ranks
        JOIN _rank_jobs AS jobs ON jobs.recording = ranks.recording AND jobs.pid = ranks.pid
    ),
    -- Slow steps that are waits for another rank, with what that one did meanwhile.
    waits AS (
        SELECT
            slow.recording,
            slow.pid,
            slow.tid,
            slow.step,
            arg_max(
                {
                    'recording': others.recording,
                    'pid': others.pid,
                    'tid': others.tid,
                    'cause': late.cause
                },
                late.lag_ns
            ) AS late
        FROM slow
        JOIN _job_steps AS own ON own.recording = slow.recording AND own.pid = slow.pid AND own.step = slow.step
        JOIN _job_steps AS others ON others.job = own.job AND others.number = own.number AND others.rank <> own.rank
        JOIN late_steps AS late
            ON late.recording = others.recording
            AND late.pid = others.pid
            AND late.step = others.step
        CROSS JOIN thresholds
        WHERE late.late_rank IS NOT NULL AND late.lag_ns >= thresholds.min_waits * (slow.dur_ns - slow.usual_ns)
        GROUP BY ALL
    ),
    latest AS (
        SELECT
            recording,
            pid,
            tid,
            late.recording AS late_recording,
            late.pid AS late_pid,
            any_value(late.tid) AS late_tid,
            count(*) AS steps,
            mode(late.cause ORDER BY late.cause) AS cause
        FROM waits
        GROUP BY ALL
    ),
    waited_for AS (
        SELECT latest.*
        FROM latest
        JOIN grown
            ON grown.recording = latest.recording
            AND grown.pid = latest.pid
            AND grown.tid = latest.tid
        CROSS JOIN thresholds
        WHERE latest.steps >= thresholds.min_waits * grown.slow_steps
        QUALIFY row_number() OVER (
            PARTITION BY latest.recording, latest.pid, latest.tid
            ORDER BY latest.steps DESC, latest.late_recording, latest.late_pid
        ) = 1
    ),
    worth AS (
        SELECT
            all_slow.*,
            ranks.job,
            CASE WHEN ranks.pid IS NULL THEN [all_slow.recording, all_slow.pid, all_slow.tid] END AS alone,
            waited_for.late_recording,
            waited_for.late_pid,
            waited_for.late_tid,
            waited_for.steps AS waiting_steps,
            waited_for.cause
        FROM all_slow
        LEFT JOIN ranks ON ranks.recording = all_slow.recording AND ranks.pid = all_slow.pid
        LEFT JOIN waited_for
            ON waited_for.recording = all_slow.recording
            AND waited_for.pid = all_slow.pid
            AND waited_for.tid = all_slow.tid
            AND all_slow.what = 'some'
        CROSS JOIN thresholds
        WHERE all_slow.steps >= all_slow.min_steps AND excess_ns >= all_slow.min_share * all_ns
    ),
    held_up AS (
        SELECT late_recording AS recording, late_pid AS pid, count(*) AS ranks, max(waiting_steps) AS steps
        FROM worth
        WHERE late_pid IS NOT NULL
        GROUP BY ALL
    ),
    jobs AS (
        SELECT
            worth.*,
            held_up.ranks AS held_ranks,
            held_up.steps AS held_steps,
            count(*) OVER job AS threads,
            row_number() OVER (
                job
                ORDER BY
                    held_up.pid IS NOT NULL AND worth.late_pid IS NULL AND worth.what = 'some' DESC,
                    lost_less,
                    -- The others wait in these.
                    phase = 'NcclCollective',
                    phase = 'GpuCompute',
                    excess_ns DESC,
                    worth.recording,
                    worth.pid,
                    tid
            ) AS place
        FROM (
            SELECT *, excess_ns < as_much * max(excess_ns) OVER (PARTITION BY what, job, alone) AS lost_less
            FROM worth
            CROSS JOIN thresholds
        ) AS worth
        LEFT JOIN held_up ON held_up.recording = worth.recording AND held_up.pid = worth.pid
        WINDOW job AS (PARTITION BY what, job, alone)
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread that lost most, or that the others wait for
    thread_label(recording, pid, tid)
        || CASE WHEN threads > 1 THEN format(' and {} more', threads - 1) ELSE '' END AS subject, -- training thread
    slow_steps AS value, -- slow steps
    format('of {} steps', steps) AS unit, -- unit of value
    all_ns / steps AS step_ns, -- [ns] step
    CASE WHEN phase <> 'rollouts' THEN excess_ns / steps END
        AS lost_ns, -- [ns] excess spread over all steps; NULL of rollouts
    CASE WHEN phase <> 'rollouts' THEN excess_ns / steps END
        AS bound_ns, -- [ns] saved at most, when slow steps take the median
    CASE WHEN phase = 'rollouts' THEN 'low' END AS severity, -- where it is not that by the share of step time
    why || CASE
        WHEN phase = 'rollouts'
            THEN format(', which is {} of the time of all steps; rollouts of reinforcement learning are in it',
                pct(excess_ns / all_ns))
        WHEN late_pid IS NOT NULL
            THEN format('; in {} of these it waits for {}, which is late', waiting_steps,
                thread_label(late_recording, late_pid, late_tid))
                || CASE cause
                    WHEN 'checkpoint' THEN ', as it writes a checkpoint'
                    WHEN 'data wait' THEN ', as it waits for data'
                    WHEN 'preemption' THEN ', as it has no CPU'
                    WHEN 'allocation' THEN ', as it allocates device memory'
                    WHEN 'compute' THEN ', as its passes take longer'
                    WHEN 'asleep' THEN ', as it is asleep'
                    WHEN 'slow GPU' THEN ', as it waits for its GPU'
                    WHEN 'other' THEN ', as it works outside of recorded calls'
                    ELSE ''
                END
        WHEN what = 'some' AND held_ranks > 0
            THEN format('; {} for it in {} slow steps',
                CASE WHEN held_ranks = 1 THEN '1 other rank waits' ELSE format('{} other ranks wait', held_ranks) END,
                held_steps)
        ELSE ''
    END AS evidence, -- what it rests on
    CASE
        WHEN what <> 'some'
            THEN 'look at what changed then: marks, other jobs, clocks of the GPU (throttling), input of another size'
        WHEN late_pid IS NOT NULL AND cause = 'preemption'
            THEN 'free CPUs for the late rank: other processes on its machine, CPU limits, affinity'
        WHEN late_pid IS NOT NULL
            THEN 'look at what only the late rank does then: evaluation, checkpoints, logging; do that less often'
        WHEN phase = 'rollouts'
            THEN 'nothing, if environments have to take that long; else the policy for several of them in one batch '
                || '(gymnasium.vector): in processes of their own (SubprocVecEnv) where a step of one takes '
                || 'milliseconds, in this one (DummyVecEnv) where it takes less than a message to a process'
        WHEN phase = 'besides'
            THEN 'look at what is computed besides training: evaluation, samples, metrics that are read'
        WHEN phase = 'DataLoading'
            THEN 'look at the batches of these steps: outliers in size, or workers that were restarted'
        WHEN phase = 'Unknown' AND held_ranks > 0
            THEN 'look at what it alone does then, while other ranks wait: evaluation, logging, checkpoints; divide '
                || 'that among the ranks, or do it less often'
        WHEN phase = 'Unknown'
            THEN 'look at what runs between steps then: rollouts, evaluation, checkpoints, logging; do that less '
                || 'often, or for many at once'
        ELSE 'look at what differs in these steps: shapes, recompilation, other load on the machine'
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM step_outliers ORDER BY dur_ns DESC LIMIT 10"' AS next_command -- to see more
FROM jobs
WHERE place = 1
