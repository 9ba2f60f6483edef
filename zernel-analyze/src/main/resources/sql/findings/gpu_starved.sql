-- The GPU waits for the CPU. It runs dry while the training thread has not launched what comes next.
--
-- Of a trace that is opened without a recording: what the GPU does is measured, and the profiler slows the CPU down, by
-- up to 1.3 times (measured on an H100). So lost is what is left of the idle time if the CPU were as fast without it,
-- and the bound is all of the idle time that the CPU causes. With a recording, launch_bound, host_bound and
-- slow_optimizer say more.
-- Of a gap that lies only partly in steps, each cause counts by that part.
-- Where the trace has stacks, or ranges of the program (`record_function`), the one that holds a fifth of the idle time
-- is named.
-- A trace of one step may be of a first one: that is said, it is of low severity, and silent where most of the idle
-- time is one gap, as where libraries are loaded.
-- Does not apply to time in which the thread waited for data, a collective or the GPU, nor to what was launched before
-- the GPU ran dry.
--
-- needs: files, gpu_idle, gpu_idle_functions, steps, step_mean
-- severity: high from 25 % of step time, medium from 10 %; low of one step
-- hint: zernel-analyze gpu --idle lists the gaps
WITH
    thresholds AS (
        SELECT
            1 AS min_steps, -- steps of kind train: many profile one
            2 AS usual_steps, -- the same, from which on not all are first ones
            0.5 AS most_in_one, -- of the idle time in one gap, where all steps may be first ones
            0.05 AS min_share, -- what can be saved, as a share of the step
            0.2 AS min_function, -- of the idle time in a function of Python, from which on it is named
            1.3 AS slowdown -- times as long as without the profiler the CPU takes
    ),
    -- Steps with the time of all steps before.
    clock AS (
        SELECT
            recording,
            pid,
            tid,
            start_ns,
            end_ns,
            coalesce(
                sum(end_ns - start_ns) OVER (
                    PARTITION BY recording, pid, tid
                    ORDER BY start_ns
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ),
                0
            ) AS before_ns
        FROM steps
        WHERE step_kind = 'train' AND recording IN (SELECT recording FROM files WHERE state = 'trace')
    ),
    begun AS (
        SELECT
            idle.*,
            threads.tid,
            coalesce(clock.before_ns + least(idle.start_ns, clock.end_ns) - clock.start_ns, 0) AS from_ns
        FROM gpu_idle AS idle
        JOIN (SELECT DISTINCT recording, pid, tid FROM clock) AS threads
            ON threads.recording = idle.recording
            AND threads.pid = idle.pid
        ASOF LEFT JOIN clock
            ON clock.recording = idle.recording
            AND clock.pid = idle.pid
            AND clock.tid = threads.tid
            AND clock.start_ns <= idle.start_ns
    ),
    -- A gap may begin in one step and end in another; of each cause as much is in steps as of the gap.
    placed AS (
        SELECT
            begun.*,
            begun.dur_ns
                * (coalesce(clock.before_ns + least(begun.end_ns, clock.end_ns) - clock.start_ns, 0) - begun.from_ns)
                / (begun.end_ns - begun.start_ns) AS idle_ns
        FROM begun
        ASOF LEFT JOIN clock
            ON clock.recording = begun.recording
            AND clock.pid = begun.pid
            AND clock.tid = begun.tid
            AND clock.start_ns <= begun.end_ns
        WHERE begun.end_ns > begun.start_ns
    ),
    gaps AS (
        SELECT recording, pid, tid, device, cause, sum(idle_ns) AS idle_ns, max(idle_ns) AS longest_ns
        FROM placed
        WHERE cause IN ('dispatch', 'optimizer', 'no call', 'launch latency') AND idle_ns > 0
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
            arg_max(gaps.cause, (gaps.idle_ns, gaps.cause)) AS cause,
            max(gaps.longest_ns) / sum(gaps.idle_ns) AS longest_share
        FROM gaps
        JOIN step_mean
            ON step_mean.recording = gaps.recording
            AND step_mean.pid = gaps.pid
            AND step_mean.tid = gaps.tid
        GROUP BY gaps.recording, gaps.pid, gaps.tid, gaps.device
    ),
    functions AS (
        SELECT
            recording,
            pid,
            arg_max(function, (idle_share, function)) AS function,
            max(idle_share) AS function_share
        FROM gpu_idle_functions
        CROSS JOIN thresholds
        WHERE function IS NOT NULL AND idle_share >= min_function
        GROUP BY recording, pid
    ),
    -- Of several GPUs of a process the one that waits least.
    costs AS (
        SELECT
            devices.*,
            idle_ns - step_ns * (1 - 1 / thresholds.slowdown) AS lost_ns,
            idle_ns AS bound_ns,
            thresholds.min_share,
            thresholds.slowdown,
            steps < thresholds.usual_steps AS may_be_first,
            functions.function,
            functions.function_share
        FROM devices
        CROSS JOIN thresholds
        LEFT JOIN functions USING (recording, pid)
        WHERE steps >= thresholds.min_steps
            AND (steps >= thresholds.usual_steps OR longest_share <= thresholds.most_in_one)
        QUALIFY row_number() OVER (PARTITION BY recording, pid, tid ORDER BY idle_ns) = 1
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    device, -- GPU
    lost_ns AS part_ns, -- [ns] shown as share of step time
    CASE WHEN may_be_first THEN 'low' END AS severity, -- where it is not that by the share of a step
    step_ns, -- [ns] step
    lost_ns, -- [ns] idle if the CPU were as fast as without the profiler
    bound_ns, -- [ns] idle while profiled
    format('{}: GPU {} idle for {} of {} with nothing launched: {}; a CPU that is {:.1f} times as fast '
            || 'without the profiler leaves {}',
        mean_of(steps), device, ms(idle_ns), ms(step_ns), causes, slowdown, ms(lost_ns))
        || coalesce(format('; {} of the idle time in {}', pct(function_share), function), '')
        || CASE WHEN may_be_first THEN '; whether it is a first one, which takes longer, is not known' ELSE '' END
        AS evidence, -- what it rests on
    CASE
        WHEN starts_with(function, 'the range ')
            THEN 'make what it does there cheaper or rarer, or do it ahead, in a thread or in workers of a DataLoader; '
                || 'where it launches many kernels, torch.compile(mode="reduce-overhead") or CUDA graphs'
        WHEN cause = 'no call' AND function IS NOT NULL
            THEN 'make that cheaper or rarer, or do it ahead, in a thread or in workers of a DataLoader'
        WHEN cause = 'no call'
            THEN 'shorten what the program does while it launches nothing, or do it ahead, in a thread or in workers '
                || 'of a DataLoader; profile with with_stack=True, which names the function'
        ELSE 'launch less and earlier: torch.compile(mode="reduce-overhead") or CUDA graphs, larger batches, '
            || 'fused=True; no other Python code between launches'
    END AS advice, -- what to try
    CASE
        WHEN function IS NULL THEN 'zernel-analyze gpu --idle {}'
        ELSE 'zernel-analyze sql {} "FROM gpu_idle_functions"'
    END AS next_command -- to see more
FROM costs
WHERE lost_ns >= min_share * step_ns
