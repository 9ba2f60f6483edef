-- Stacks of forward passes that activation checkpointing computes again in a backward pass.
--
-- torch.utils.checkpoint keeps no activations of what it wraps, and computes them when the backward pass needs them: in
-- a hook that unpacks them, or in a function of autograd of its own, which then runs that part's backward pass, too.
--
-- needs: _stack_frames
CREATE VIEW _recomputing_stacks AS
WITH
    checkpoints AS (
        SELECT id, min(frame) AS frame
        FROM _stack_frames
        WHERE file LIKE '%torch/utils/checkpoint.py'
            AND regexp_matches(function, '(^|\.)(unpack_hook|recompute_fn)$|^CheckpointFunction\.backward$')
        GROUP BY id
    )
SELECT
    checkpoints.id -- number of the stack
FROM checkpoints
WHERE NOT EXISTS (
    SELECT 1
    FROM _stack_frames AS inner_frames
    WHERE inner_frames.id = checkpoints.id
        AND inner_frames.frame < checkpoints.frame
        AND regexp_matches(inner_frames.file, 'torch/autograd/(graph|__init__)\.py$')
        AND inner_frames.function IN ('_engine_run_backward', 'backward')
);

-- Parts of the forward pass are computed again in the backward pass. Activation checkpointing saves memory by that.
--
-- Lost is their share of the samples of the training thread, of the time that a median step is on the CPU. Samples are
-- few, so it is a range. By a profiler's trace it is the time of operators in the backward pass that only a forward
-- pass has, at most all time of a step outside backward pass and optimizer. A job without it needs the memory that it
-- saves: whether there is so much is not judged.
-- Does not apply to jobs that launch work on a GPU, which computes such parts, too.
--
-- needs: _between_calls, _step_samples, _recomputing_stacks, _operator_times, _step_spans, _trained, events
-- severity: high from 25 % of step time, medium from 10 %
-- hint: zernel-analyze stacks shows the whole stacks; flame graphs do, too
-- lines: the second forward passes WHERE thread = 'training' AND id IN (SELECT id FROM _recomputing_stacks)
WITH
    thresholds AS (
        SELECT
            10 AS min_steps, -- steps of kind train
            50 AS min_samples, -- of the training thread
            0.05 AS min_share, -- of these, in such parts
            2 AS deviations, -- standard deviations that the share may be wrong
            2 AS min_traced_steps, -- steps of kind train of a trace
            3 AS min_operators -- of a forward pass in a backward pass: functions of autograd have few
    ),
    counts AS (
        SELECT
            samples.recording,
            samples.pid,
            samples.tid,
            count(*) AS samples,
            count(again.id) AS found
        FROM _step_samples AS samples
        LEFT JOIN _recomputing_stacks AS again ON again.id = samples.id
        GROUP BY samples.recording, samples.pid, samples.tid
    ),
    costs AS (
        SELECT
            counts.*,
            medians.steps,
            medians.step_ns,
            medians.between_ns + medians.called_ns AS cpu_ns,
            counts.found / counts.samples AS share,
            thresholds.deviations * sqrt(share * (1 - share) / counts.samples) AS error
        FROM counts
        JOIN _between_calls AS medians
            ON medians.recording = counts.recording
            AND medians.pid = counts.pid
            AND medians.tid = counts.tid
        CROSS JOIN thresholds
    ),
    operators AS (
        SELECT recording, pid, tid, kind, at_ns AS from_ns, at_ns + dur_ns AS until_ns
        FROM in_spans(_operator_times, _step_spans)
        WHERE trains AND operator IS NOT NULL
    ),
    forward_operators AS (
        SELECT recording, pid, tid AS caller, ts_ns AS at_ns, dur_ns
        FROM (
            SELECT recording, pid, tid, ts_ns, dur_ns
            FROM events
            WHERE kind = 'torch_op'
                AND regexp_matches(
                    name,
                    '^aten::(linear|(conv|conv_transpose|max_pool|avg_pool)\dd|(layer|batch|group|rms|instance)_norm'
                        || '|scaled_dot_product_attention|embedding|(leaky_)?relu|gelu|silu|dropout|softmax)$'
                )
                AND recording IN (SELECT recording FROM _operator_times)
        )
        -- The outermost of them.
        QUALIFY coalesce(
            max(ts_ns + dur_ns) OVER (
                PARTITION BY recording, pid, tid
                ORDER BY ts_ns, dur_ns DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) <= ts_ns,
            TRUE
        )
    ),
    backwards AS (
        SELECT recording, pid, tid, from_ns, until_ns
        FROM operators
        WHERE kind = 'backward'
    ),
    others AS (
        SELECT recording, pid, sum(until_ns - from_ns) AS other_ns
        FROM operators
        WHERE kind <> 'torch_op'
        GROUP BY recording, pid
    ),
    again AS (
        SELECT recording, pid, count(*) AS operators, sum(dur_ns) AS again_ns
        FROM in_spans(forward_operators, backwards)
        WHERE caller = tid
        GROUP BY recording, pid
    ),
    traced AS (
        SELECT
            again.recording,
            again.pid,
            trained.tid,
            trained.train_steps,
            trained.train_ns,
            again.operators / trained.train_steps AS operators,
            again.again_ns / trained.train_steps AS again_ns,
            greatest(trained.train_ns - others.other_ns / trained.train_steps, again.again_ns / trained.train_steps)
                AS forward_ns
        FROM again
        JOIN others ON others.recording = again.recording AND others.pid = again.pid
        JOIN _trained AS trained ON trained.recording = again.recording AND trained.pid = again.pid
        WHERE trained.train_steps > 0
    )
SELECT
    recording,
    pid,
    tid,
    again_ns AS part_ns,
    train_ns AS step_ns,
    again_ns AS lost_ns,
    forward_ns AS bound_ns,
    format('mean of {} steps: {:.0f} operators that only a forward pass has are in the backward pass, for {} of {}; '
            || 'with the profiler on, without which it is less; ',
        train_steps, operators, ms(again_ns), ms(train_ns)) AS evidence,
    'where memory suffices, no torch.utils.checkpoint (gradient_checkpointing=False), or around fewer modules'
        AS advice,
    'zernel-analyze export --perfetto {}' AS next_command
FROM traced
CROSS JOIN thresholds
WHERE train_steps >= min_traced_steps AND operators >= min_operators AND again_ns >= min_share * train_ns
UNION ALL BY NAME
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    share * cpu_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    share * cpu_ns AS lost_ns, -- [ns] in such parts
    (share + error) * cpu_ns AS bound_ns, -- [ns] the same at most, as far as so many samples tell
    greatest(share - error, 0) * cpu_ns AS least_lost_ns, -- [ns] the same at least
    format('median of {} steps: {} on the CPU; {} of {} samples are in parts of the forward pass that activation '
            || 'checkpointing computes again; ',
        steps, ms(cpu_ns), found, samples) AS evidence, -- what it rests on
    'where memory suffices, no torch.utils.checkpoint (gradient_checkpointing=False), or around fewer modules'
        AS advice, -- what to try
    'zernel-analyze stacks {}' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE steps >= min_steps AND samples >= min_samples AND share - error >= min_share
