-- The GPU waits for the CPU. It runs dry while the training thread has not launched what comes next.
--
-- Of a trace that is opened without a recording: what the GPU does is measured, and the profiler slows the CPU down, by
-- up to 1.3 times (measured on an H100). So lost is what is left of the idle time if the CPU were as fast without it,
-- and the bound is all of the idle time that the CPU causes. With a recording, launch_bound, host_bound and
-- slow_optimizer say more.
-- Does not apply to time in which the thread waited for data, a collective or the GPU, nor to what was launched before
-- the GPU ran dry.
--
-- needs: files, gpu_idle, steps, step_mean
-- severity: high from 25 % of step time, medium from 10 %
-- hint: zernel-analyze gpu --idle lists the gaps
WITH
    thresholds AS (
        SELECT
            1 AS min_steps, -- steps of kind train: many profile one
            0.05 AS min_share, -- what can be saved, as a share of the step
            1.3 AS slowdown -- times as long as without the profiler the CPU takes
    ),
    gaps AS (
        SELECT
            idle.recording,
            idle.pid,
            idle.device,
            steps.tid,
            idle.cause,
            sum(
                least(idle.start_ns + idle.dur_ns, steps.end_ns) - greatest(idle.start_ns, steps.start_ns)
            ) AS idle_ns
        FROM gpu_idle AS idle
        JOIN steps
            ON steps.recording = idle.recording
            AND steps.pid = idle.pid
            AND steps.step_kind = 'train'
            AND idle.start_ns + idle.dur_ns > steps.start_ns
            AND idle.start_ns < steps.end_ns
        WHERE idle.cause IN ('dispatch', 'optimizer', 'no call', 'launch latency')
            AND idle.recording IN (SELECT recording FROM files WHERE state = 'trace')
        GROUP BY ALL
    ),
    devices AS (
        SELECT
            gaps.recording,
            gaps.pid,
            gaps.tid,
            gaps.device,
            any_value(step_mean.steps) AS steps,
            any_value(step_mean.step_ns) AS step_ns,
            sum(gaps.idle_ns) / any_value(step_mean.steps) AS idle_ns,
            string_agg(
                format('{} {}', ms(gaps.idle_ns / step_mean.steps), gaps.cause),
                ', '
                ORDER BY gaps.idle_ns DESC
            ) AS causes,
            arg_max(gaps.cause, (gaps.idle_ns, gaps.cause)) AS cause
        FROM gaps
        JOIN step_mean
            ON step_mean.recording = gaps.recording
            AND step_mean.pid = gaps.pid
            AND step_mean.tid = gaps.tid
        GROUP BY gaps.recording, gaps.pid, gaps.tid, gaps.device
    ),
    -- Of several GPUs of a process the one that waits least.
    costs AS (
        SELECT
            devices.*,
            idle_ns - step_ns * (1 - 1 / thresholds.slowdown) AS lost_ns,
            idle_ns AS bound_ns,
            thresholds.min_share,
            thresholds.slowdown
        FROM devices
        CROSS JOIN thresholds
        WHERE steps >= thresholds.min_steps
        QUALIFY row_number() OVER (PARTITION BY recording, pid, tid ORDER BY idle_ns) = 1
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    device, -- GPU
    lost_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    lost_ns, -- [ns] idle if the CPU were as fast as without the profiler
    bound_ns, -- [ns] idle while profiled
    format('{}: GPU {} idle for {} of {} with nothing launched: {}; a CPU that is {:.1f} times as fast '
            || 'without the profiler leaves {}',
        mean_of(steps), device, ms(idle_ns), ms(step_ns), causes, slowdown, ms(lost_ns))
        AS evidence, -- what it rests on
    CASE cause
        WHEN 'no call'
            THEN 'shorten what the program does while it launches nothing, or do it ahead, in a thread or in workers '
                || 'of a DataLoader; profile with with_stack=True, which names it'
        ELSE 'launch less and earlier: torch.compile(mode="reduce-overhead") or CUDA graphs, larger batches, '
            || 'fused=True; no other Python code between launches'
    END AS advice, -- what to try
    'zernel-analyze gpu --idle {}' AS next_command -- to see more
FROM costs
WHERE lost_ns >= min_share * step_ns
