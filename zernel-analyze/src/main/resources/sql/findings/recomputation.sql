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
-- few, so it is a range. A job without it needs the memory that it saves: whether there is so much is not judged.
-- Does not apply to jobs that launch work on a GPU, which computes such parts, too.
--
-- needs: _between_calls, _step_samples, _recomputing_stacks
-- severity: high from 25 % of step time, medium from 10 %
-- hint: zernel-analyze stacks shows the whole stacks; flame graphs do, too
-- lines: the passes again WHERE thread = 'training' AND id IN (SELECT id FROM _recomputing_stacks)
WITH
    thresholds AS (
        SELECT
            10 AS min_steps, -- steps of kind train
            50 AS min_samples, -- of the training thread
            0.05 AS min_share, -- of these, in such parts
            2 AS deviations -- standard deviations that the share may be wrong
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
    )
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
