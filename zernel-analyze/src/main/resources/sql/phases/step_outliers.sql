-- What other findings count and single steps have more of than usual: one row per step and reason.
--
-- These are garbage collections, waits for another thread or process, and time without a CPU.
--
-- needs: gc_runs, step_states, _off_cpu_steps
CREATE VIEW _step_whys AS
WITH
    constants AS (
        SELECT 0.03 AS counted -- share of step time from which on findings count such waits
    ),
    others AS (
        SELECT recording, pid, tid, step, sum(blocked_ns) AS other_ns
        FROM _off_cpu_steps
        WHERE is_blocked_on_process(part, state)
        GROUP BY ALL
    ),
    states AS (
        SELECT step_states.*, coalesce(others.other_ns, 0) AS other_ns
        FROM step_states
        LEFT JOIN others
            ON others.recording = step_states.recording
            AND others.pid = step_states.pid
            AND others.tid = step_states.tid
            AND others.step = step_states.step
        WHERE step_states.step_kind = 'train'
    ),
    waits AS (
        SELECT
            recording,
            pid,
            tid,
            step,
            thread_ns - median(thread_ns) OVER thread AS thread_ns,
            other_ns - median(other_ns) OVER thread AS other_ns,
            runnable_ns - median(runnable_ns) OVER thread AS runnable_ns,
            sum(thread_ns) OVER thread / sum(dur_ns) OVER thread AS thread_share,
            sum(other_ns) OVER thread / sum(dur_ns) OVER thread AS other_share,
            sum(runnable_ns) OVER thread / sum(dur_ns) OVER thread AS runnable_share
        FROM states
        WINDOW thread AS (PARTITION BY recording, pid, tid)
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    step, -- number of the step
    'pause' AS reason, -- pause, another thread, another process or no CPU
    CAST(sum(dur_ns) AS BIGINT) AS dur_ns -- [ns] how long, beyond the usual
FROM gc_runs
GROUP BY ALL
UNION ALL
SELECT waits.recording, waits.pid, waits.tid, waits.step, 'another thread', CAST(waits.thread_ns AS BIGINT)
FROM waits
CROSS JOIN constants
WHERE waits.thread_ns > 0 AND waits.thread_share >= constants.counted
UNION ALL
SELECT waits.recording, waits.pid, waits.tid, waits.step, 'another process', CAST(waits.other_ns AS BIGINT)
FROM waits
CROSS JOIN constants
WHERE waits.other_ns > 0 AND waits.other_share >= constants.counted
UNION ALL
SELECT waits.recording, waits.pid, waits.tid, waits.step, 'no CPU', CAST(waits.runnable_ns AS BIGINT)
FROM waits
CROSS JOIN constants
WHERE waits.runnable_ns > 0 AND waits.runnable_share >= constants.counted;

-- Steps of training and those with a checkpoint, and on which side of a change of pace each is.
--
-- needs: steps, step_changes
CREATE VIEW _paced_steps AS
SELECT
    steps.recording, -- recording
    steps.pid, -- process
    steps.tid, -- training thread
    steps.step, -- number of the step, from 1
    steps.start_ns, -- [ns] when it began
    steps.end_ns, -- [ns] when it ended
    steps.dur_ns, -- [ns] how long it took
    steps.data_loading_ns, -- [ns] waiting for data
    steps.gpu_compute_ns, -- [ns] in phase GpuCompute
    steps.nccl_collective_ns, -- [ns] in collectives
    steps.optimizer_step_ns, -- [ns] in the optimizer
    steps.unknown_ns, -- [ns] in no phase
    coalesce(steps.step >= changes.step, FALSE) AS later -- whether it is after the change
FROM steps
LEFT JOIN step_changes AS changes
    ON changes.recording = steps.recording
    AND changes.pid = steps.pid
    AND changes.tid = steps.tid
WHERE steps.step_kind IN ('train', 'checkpoint');

-- Steps at equal distances that nearly always take longer than the others, as every tenth one may.
--
-- Of each distance and each turn in it, what counts is the chance that a step of the turn takes longer than one that is
-- not, so how much steps vary does not matter. It is asked of the first steps on each side of a change of pace.
--
-- needs: _paced_steps
-- digest: kept
CREATE TABLE _heavy_turns AS
WITH
    constants AS (
        SELECT
            2000 AS most_steps, -- that are looked at
            3 AS least_distance, -- steps from one to the next: of more frequent ones none are usual
            50 AS most_distance, -- steps
            5 AS min_turns, -- steps of a turn
            0.98 AS min_chance -- that one of them takes longer than one of the others
    ),
    firsts AS (
        SELECT _paced_steps.*
        FROM _paced_steps
        CROSS JOIN constants
        QUALIFY row_number() OVER (PARTITION BY recording, pid, tid, later ORDER BY step) <= most_steps
    ),
    ranked AS (
        SELECT
            recording,
            pid,
            tid,
            later,
            step,
            row_number() OVER (PARTITION BY recording, pid, tid, later ORDER BY dur_ns, step) AS place,
            count(*) OVER (PARTITION BY recording, pid, tid, later) AS steps
        FROM firsts
    ),
    distances AS (
        SELECT unnest(range(least_distance, most_distance + 1)) AS distance, min_turns, min_chance
        FROM constants
    )
SELECT
    ranked.recording, -- recording
    ranked.pid, -- process
    ranked.tid, -- training thread
    ranked.later, -- on which side of a change of pace
    distances.distance, -- steps from one to the next
    ranked.step % distances.distance AS turn -- what numbers of these steps leave when divided by that
FROM ranked
CROSS JOIN distances
GROUP BY ALL
HAVING count(*) >= any_value(distances.min_turns)
    AND sum(ranked.place) - count(*) * (count(*) + 1) / 2
        >= any_value(distances.min_chance) * count(*) * (any_value(ranked.steps) - count(*));

-- Steps that take much longer than the thread's usual ones, without a look at ranks that are late.
--
-- needs: _paced_steps, _heavy_turns, step_work, _step_spans, _syncs, _checkpoint_opens, data_wait, _data_waits, pauses
-- needs: _step_whys, _shared_steps
-- digest: kept
CREATE TABLE _slow_steps AS
WITH
    thresholds AS (
        SELECT
            10 AS min_steps, -- steps
            6 AS min_deviations, -- median deviations over the median, scaled as standard deviations
            0.2 AS min_excess, -- and this share of the median
            0.5 AS shared, -- of steps on a GPU that is shared: from there on that is the usual
            0.05 AS slow_input, -- what waits for data cost, as a share of a mean step
            0.05 AS often -- and this share of steps is slow through them
    ),
    paced AS (
        SELECT
            *,
            lag(start_ns, 1, start_ns) OVER (PARTITION BY recording, pid, tid ORDER BY step) AS previous_ns,
            lead(dur_ns) OVER (PARTITION BY recording, pid, tid ORDER BY step) AS next_ns
        FROM _paced_steps
    ),
    usual AS (
        SELECT
            recording,
            pid,
            tid,
            later,
            count(*) AS steps,
            median(dur_ns) AS dur_ns,
            mad(dur_ns) AS mad_ns,
            median(data_loading_ns) AS data_loading_ns,
            median(gpu_compute_ns) AS gpu_compute_ns,
            median(nccl_collective_ns) AS nccl_collective_ns,
            median(optimizer_step_ns) AS optimizer_step_ns,
            median(unknown_ns) AS unknown_ns
        FROM paced
        GROUP BY ALL
    ),
    heavy AS (
        SELECT DISTINCT paced.recording, paced.pid, paced.tid, paced.step
        FROM paced
        JOIN _heavy_turns AS turns
            ON turns.recording = paced.recording
            AND turns.pid = paced.pid
            AND turns.tid = paced.tid
            AND turns.later = paced.later
            AND turns.turn = paced.step % turns.distance
    ),
    outliers AS (
        SELECT
            paced.recording,
            paced.pid,
            paced.tid,
            paced.step,
            paced.start_ns,
            paced.previous_ns,
            paced.end_ns,
            paced.dur_ns,
            usual.dur_ns AS usual_ns,
            usual.mad_ns,
            usual.steps,
            paced.data_loading_ns - usual.data_loading_ns AS data_loading_ns,
            paced.gpu_compute_ns - usual.gpu_compute_ns AS gpu_compute_ns,
            paced.nccl_collective_ns - usual.nccl_collective_ns AS nccl_collective_ns,
            paced.optimizer_step_ns - usual.optimizer_step_ns AS optimizer_step_ns,
            paced.unknown_ns - usual.unknown_ns AS unknown_ns
        FROM paced
        JOIN usual
            ON usual.recording = paced.recording
            AND usual.pid = paced.pid
            AND usual.tid = paced.tid
            AND usual.later = paced.later
        CROSS JOIN thresholds
        LEFT JOIN heavy
            ON heavy.recording = paced.recording
            AND heavy.pid = paced.pid
            AND heavy.tid = paced.tid
            AND heavy.step = paced.step
        WHERE usual.steps >= thresholds.min_steps
            AND paced.dur_ns + least(coalesce(paced.next_ns, usual.dur_ns) - usual.dur_ns, 0) - usual.dur_ns > greatest(
                CASE WHEN heavy.step IS NULL THEN thresholds.min_deviations * 1.4826 * usual.mad_ns END,
                thresholds.min_excess * usual.dur_ns
            )
    ),
    moments AS (
        SELECT recording, ts_ns AS at_ns, 'checkpoint' AS reason
        FROM _checkpoint_opens
        UNION ALL
        SELECT recording, start_ns, 'begin of a pass'
        FROM data_wait
        WHERE batch = 1
        UNION ALL
        SELECT recording, start_ns, 'pause'
        FROM pauses
    ),
    explained AS (
        SELECT outliers.recording, outliers.pid, outliers.tid, outliers.step, arg_max(why.reason, why.dur_ns) AS reason
        FROM outliers
        JOIN _step_whys AS why
            ON why.recording = outliers.recording
            AND why.pid = outliers.pid
            AND why.tid = outliers.tid
            AND why.step = outliers.step
        WHERE 2 * why.dur_ns >= outliers.dur_ns - outliers.usual_ns
        GROUP BY ALL
    ),
    reasons AS (
        SELECT outliers.recording, outliers.pid, outliers.tid, outliers.step, min(moments.reason) AS reason
        FROM outliers
        JOIN moments
            ON moments.recording = outliers.recording
            AND moments.at_ns >= outliers.previous_ns
            AND moments.at_ns < outliers.end_ns
        GROUP BY ALL
    ),
    blocked AS (
        SELECT recording, pid, start_ns AS at_ns, dur_ns
        FROM _syncs
    ),
    -- One wait empties the queue of the GPU, so what the others of a step wait for was enqueued in that step.
    longest AS (
        SELECT recording, pid, step, max(dur_ns) AS sync_ns
        FROM in_spans(blocked, _step_spans)
        GROUP BY recording, pid, step
    ),
    sharing AS (
        SELECT paced.recording, paced.pid, paced.tid
        FROM paced
        LEFT JOIN _shared_steps AS shared USING (recording, pid, tid, step)
        CROSS JOIN thresholds
        GROUP BY paced.recording, paced.pid, paced.tid
        HAVING count(shared.step) BETWEEN 1 AND any_value(thresholds.shared) * count(*)
    ),
    waits AS (
        -- A launch or a copy that takes long waits for room in the queue of the GPU.
        SELECT
            work.recording,
            work.pid,
            work.tid,
            work.step,
            coalesce(longest.sync_ns, 0) + coalesce(
                work.launch_ns + work.copy_ns - median(work.launch_ns + work.copy_ns) OVER thread,
                work.copy_ns - median(work.copy_ns) OVER thread
            ) AS blocked_ns,
            work.syncs,
            median(work.syncs) OVER thread AS usual_syncs
        FROM step_work AS work
        LEFT JOIN longest
            ON longest.recording = work.recording
            AND longest.pid = work.pid
            AND longest.step = work.step
        WHERE work.step_kind = 'train'
        WINDOW thread AS (PARTITION BY work.recording, work.pid, work.tid)
    ),
    slow_inputs AS (
        SELECT waits.recording, waits.pid, waits.tid
        FROM _data_waits AS waits
        JOIN outliers
            ON outliers.recording = waits.recording
            AND outliers.pid = waits.pid
            AND outliers.tid = waits.tid
        CROSS JOIN thresholds
        WHERE waits.lost_ns >= thresholds.slow_input * waits.step_ns
            AND 2 * outliers.data_loading_ns >= outliers.dur_ns - outliers.usual_ns
        GROUP BY waits.recording, waits.pid, waits.tid
        -- Single long waits are what slow storage is like; of other causes they would be no more than slow steps.
        HAVING count(*) >= any_value(thresholds.often) * any_value(outliers.steps) OR any_value(waits.cause) = 'storage'
    ),
    unmissed AS (
        SELECT outliers.recording, outliers.pid, outliers.tid
        FROM outliers
        JOIN _data_waits AS waits
            ON waits.recording = outliers.recording
            AND waits.pid = outliers.pid
            AND waits.tid = outliers.tid
        GROUP BY outliers.recording, outliers.pid, outliers.tid
        HAVING 2 * any_value(waits.idle_ns * waits.steps) < sum(greatest(outliers.data_loading_ns, 0))
    )
SELECT
    outliers.recording, -- recording
    outliers.pid, -- process
    outliers.tid, -- training thread
    outliers.step, -- number of the step, from 1
    outliers.start_ns, -- [ns] when it began
    outliers.end_ns, -- [ns] when it ended
    outliers.previous_ns, -- [ns] when the step before it began
    outliers.dur_ns, -- [ns] how long it took
    CAST(outliers.usual_ns AS BIGINT) AS usual_ns, -- [ns] median step
    CAST(outliers.mad_ns AS BIGINT) AS mad_ns, -- [ns] median deviation of steps from it
    (outliers.dur_ns - outliers.usual_ns) / (1.4826 * greatest(outliers.mad_ns, 1))
        AS score, -- median deviations over the median, scaled as standard deviations
    CASE greatest(data_loading_ns, gpu_compute_ns, nccl_collective_ns, optimizer_step_ns, unknown_ns)
        WHEN data_loading_ns THEN 'DataLoading'
        WHEN gpu_compute_ns THEN 'GpuCompute'
        WHEN nccl_collective_ns THEN 'NcclCollective'
        WHEN optimizer_step_ns THEN 'OptimizerStep'
        ELSE 'Unknown'
    END AS phase, -- the phase that took most longer than usual
    CAST(greatest(data_loading_ns, gpu_compute_ns, nccl_collective_ns, optimizer_step_ns, unknown_ns) AS BIGINT)
        AS phase_excess_ns, -- [ns] by which it did
    waits.syncs, -- waits for the GPU; NULL where it is no training step
    waits.usual_syncs, -- median of them
    CASE
        WHEN reasons.reason IS NOT NULL THEN reasons.reason
        WHEN explained.reason IS NOT NULL THEN explained.reason
        WHEN sharing.pid IS NOT NULL AND shared.step IS NOT NULL THEN 'shared GPU'
        WHEN slow_inputs.pid IS NOT NULL AND 2 * data_loading_ns >= outliers.dur_ns - outliers.usual_ns
            THEN 'slow input'
        WHEN waits.usual_syncs = 0
            AND 2 * (waits.blocked_ns + CASE WHEN unmissed.pid IS NULL THEN 0 ELSE greatest(data_loading_ns, 0) END)
                >= outliers.dur_ns - outliers.usual_ns
            THEN 'wait for earlier steps'
    END AS reason -- checkpoint, begin of a pass, pause, another thread or process, no CPU, ... or NULL
FROM outliers
LEFT JOIN reasons
    ON reasons.recording = outliers.recording
    AND reasons.pid = outliers.pid
    AND reasons.tid = outliers.tid
    AND reasons.step = outliers.step
LEFT JOIN explained
    ON explained.recording = outliers.recording
    AND explained.pid = outliers.pid
    AND explained.tid = outliers.tid
    AND explained.step = outliers.step
LEFT JOIN waits
    ON waits.recording = outliers.recording
    AND waits.pid = outliers.pid
    AND waits.tid = outliers.tid
    AND waits.step = outliers.step
LEFT JOIN sharing
    ON sharing.recording = outliers.recording
    AND sharing.pid = outliers.pid
    AND sharing.tid = outliers.tid
LEFT JOIN _shared_steps AS shared
    ON shared.recording = outliers.recording
    AND shared.pid = outliers.pid
    AND shared.tid = outliers.tid
    AND shared.step = outliers.step
LEFT JOIN unmissed
    ON unmissed.recording = outliers.recording
    AND unmissed.pid = outliers.pid
    AND unmissed.tid = outliers.tid
LEFT JOIN slow_inputs
    ON slow_inputs.recording = outliers.recording
    AND slow_inputs.pid = outliers.pid
    AND slow_inputs.tid = outliers.tid;

-- Steps that take much longer than the thread's usual ones, and what in them took longer.
--
-- Usual is the median of the steps, on the side of a change of pace that the step is on; a step is an outlier when it
-- is over that by six median deviations (scaled as standard deviations) and by a fifth, and the next step does not make
-- up for it, as where a program waits once for all that it had enqueued. By a fifth is enough where steps at equal
-- distances, five or more, nearly always take longer than the others. Warm-up and evaluation do not count. Known
-- reasons, in the step or in the one before it, because a rank or the GPU may feel it later: a checkpoint that any
-- process on the machine opens, the begin of a pass over the data, a pause outside every call, and a rank that comes
-- late to a collective where that is nearly always the same one; an input that is too slow again and again; and, where
-- the usual step does not wait for the GPU, a wait for what was enqueued in the steps before, in the longest sync or
-- for room to launch, or one for data that the GPU does not miss: by the driver's samples it is idle for less than half
-- of these.
-- So is time blocked on another thread or process or without a CPU, and garbage collections, that take half of what the
-- step takes longer, and a GPU of which another process has a part meanwhile, where it has none in most steps.
--
-- needs: _slow_steps, late_steps
CREATE TABLE step_outliers AS
WITH
    thresholds AS (
        SELECT
            0.2 AS min_lag, -- delay of a late rank, as a share of its step
            0.8 AS min_same_rank -- share of delays that are those of one rank
    ),
    late AS (
        SELECT comm_id, late_rank, recording, late_ns, count(*) OVER (PARTITION BY comm_id, late_rank) AS times
        FROM late_steps
        CROSS JOIN thresholds
        WHERE late_rank IS NOT NULL AND step_kind <> 'warmup' AND lag_ns >= thresholds.min_lag * step_ns
    ),
    -- Delays that are nearly always those of one rank.
    moments AS (
        SELECT late.recording, late.late_ns AS at_ns
        FROM late
        JOIN (SELECT comm_id, count(*) AS times FROM late GROUP BY ALL) AS totals ON totals.comm_id = late.comm_id
        CROSS JOIN thresholds
        WHERE late.times >= thresholds.min_same_rank * totals.times
    )
SELECT
    slow.recording, -- recording
    slow.pid, -- process
    slow.tid, -- training thread
    slow.step, -- number of the step, from 1
    slow.start_ns, -- [ns] when it began
    slow.dur_ns, -- [ns] how long it took
    slow.usual_ns, -- [ns] median step
    slow.mad_ns, -- [ns] median deviation of steps from it
    slow.score, -- median deviations over the median, scaled as standard deviations
    slow.phase, -- the phase that took most longer than usual
    slow.phase_excess_ns, -- [ns] by which it did
    slow.syncs, -- waits for the GPU in it; NULL where it is no training step
    slow.usual_syncs, -- waits for the GPU in the median step
    CASE
        WHEN slow.reason IN ('checkpoint', 'begin of a pass') THEN slow.reason
        WHEN EXISTS (
            SELECT 1
            FROM moments
            WHERE moments.recording = slow.recording
                AND moments.at_ns >= slow.previous_ns
                AND moments.at_ns < slow.end_ns
        ) THEN 'late rank'
        ELSE slow.reason
    END AS reason -- checkpoint, begin of a pass, pause, another thread or process, no CPU, late rank, ... or NULL
FROM _slow_steps AS slow
