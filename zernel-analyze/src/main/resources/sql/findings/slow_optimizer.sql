-- The optimizer takes much of a step. `Optimizer.step` runs on the CPU for longer than a fused one would.
--
-- Waits for the GPU inside it do not count. Lost is what is beyond a tenth of the step, at most as the GPU is idle by
-- the driver's samples; a tenth is an assumption, and the bound is that it takes no time at all.
-- Does not apply to models that are mostly parameters, such as large embeddings, on a CPU: updating them is the work.
--
-- needs: step_mean, gpu_busy, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: zernel-record --probe 'torch_op:aten::*' says which operators it runs
-- lines: the optimizer WHERE thread = 'training' AND step_kind = 'train' AND part = 'optimizer_step'
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            0.25 AS min_share, -- of step time in the optimizer
            0.1 AS usual_share, -- of step time that it may take
            200000 AS min_ns -- [ns] in the optimizer: calling any from Python takes about as long
    ),
    costs AS (
        SELECT
            step_mean.recording,
            step_mean.pid,
            step_mean.tid,
            step_mean.steps,
            step_mean.step_ns,
            step_mean.optimizer_step_ns AS optimizer_ns,
            least(step_mean.optimizer_step_ns - thresholds.usual_share * step_mean.step_ns, busy.idle_ns) AS lost_ns,
            least(step_mean.optimizer_step_ns, busy.most_idle_ns) AS bound_ns,
            busy.least_idle_ns
        FROM step_mean
        LEFT JOIN gpu_busy AS busy ON busy.recording = step_mean.recording AND busy.pid = step_mean.pid
        CROSS JOIN thresholds
        WHERE step_mean.steps >= thresholds.min_steps
            AND step_mean.optimizer_step_ns >= thresholds.min_share * step_mean.step_ns
            AND step_mean.optimizer_step_ns >= thresholds.min_ns
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    optimizer_ns AS part_ns, -- [ns] shown as share of step time in the optimizer
    step_ns, -- [ns] step
    lost_ns, -- [ns] beyond what it may take, at most as the GPU is idle
    bound_ns, -- [ns] saved at most, when it takes no time
    least_lost(lost_ns, least_idle_ns) AS least_lost_ns, -- [ns] lost at least, without samples of the GPU
    least_idle_ns, -- [ns] the GPU is idle at least, without samples
    format('mean of {} steps: {} of {} in the optimizer ({} of a step is considered normal); ',
        steps, ms(optimizer_ns), ms(step_ns), pct(usual_share)) AS evidence, -- what it rests on
    'fused=True or foreach=True, no Python of your own in step(); or step less often: accumulate gradients'
        AS advice, -- what to try
    'zernel-analyze phases --parts {}' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE lost_ns > 0
    AND recording NOT IN (SELECT recording FROM files WHERE state = 'trace')
