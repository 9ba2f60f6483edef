-- The optimizer takes much of a step. `Optimizer.step` runs on the CPU for longer than a fused one would.
--
-- Waits for the GPU inside it do not count. Lost is what is beyond a tenth of the step, at most as the GPU is idle by
-- the driver's samples; a tenth is an assumption, and the bound is that it takes no time at all.
-- Does not apply to models that are mostly parameters, such as large embeddings, on a CPU: updating them is the work.
--
-- needs: step_mean, gpu_busy, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: zernel-record --probe 'torch_op:aten::*' says which operators it runs
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
    thread_label(recording, pid, tid) AS subject, -- training thread
    round(100 * optimizer_ns / step_ns, 1) AS value, -- share of step time in the optimizer
    '% of step time' AS unit, -- unit of value
    severity_of(least_lost(lost_ns, least_idle_ns) / step_ns) AS severity, -- high, medium or low
    round(lost_ns / 1e6, 3) AS lost_ms_per_step, -- [ms] beyond what it may take, at most as the GPU is idle
    speedup(step_ns, bound_ns) AS max_speedup, -- bound when it takes no time
    format('mean of {} steps: {} of {} in the optimizer ({} of a step is considered normal); ',
        steps, ms(optimizer_ns), ms(step_ns), pct(usual_share))
        || unsampled_text(lost_ns, least_idle_ns, bound_ns)
        || bound_text(step_ns, bound_ns) AS evidence, -- what it rests on
    'fused=True or foreach=True, no Python of your own in step(); or step less often: accumulate gradients'
        AS advice, -- what to try
    format('zernel-analyze phases --parts {}', file_label(recording)) AS next_command, -- to see more
    round(least_lost(lost_ns, least_idle_ns) / 1e6, 3)
        AS least_lost_ms_per_step -- [ms] lost_ms_per_step at least, without samples of the GPU
FROM costs
CROSS JOIN thresholds
WHERE lost_ns > 0
ORDER BY least_lost_ms_per_step DESC, lost_ms_per_step DESC, subject
LIMIT 20
