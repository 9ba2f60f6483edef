-- The GPU waits for other work on the CPU. The thread that launches does something else for much of each step.
--
-- Such work is making batches in the training loop, Python between the calls, or logging: stretches of a millisecond or
-- longer in which it runs in no recorded call and nothing is launched; sched says that the thread was on a CPU
-- meanwhile. Where most of it comes before the first copy to the GPU, the step's batch is made in it. Lost is this time
-- in the median step, so that single stalls do not count, at most as the GPU is idle by the driver's samples. Where
-- launches were recorded in windows, it is of detailed steps.
-- Does not apply where the time goes into launching (launch_bound), where the GPU is the limit (gpu_limit), to jobs
-- that launch nothing on a GPU, nor where time off the CPU was not recorded.
--
-- needs: _host_stretches, _host_work, step_work, events, gpu_limit, gpu_busy, kinds, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: with torch.profiler.record_function("...") around the suspects a recording names them; no profiler needs to run
-- lines: that work WHERE works
WITH
    thresholds AS (
        SELECT
            10 AS min_steps, -- steps of kind train
            3 AS min_detailed, -- of them, steps whose launches are known
            0.2 AS min_share, -- of a step in such work
            65536 AS min_batch_bytes -- [bytes] a copy to the GPU from which on it may be a batch
    ),
    costs AS (
        SELECT
            works.recording,
            works.pid,
            works.tid,
            any_value(counted.steps) AS steps,
            any_value(counted.launches) AS launches,
            count(*) AS detailed_steps,
            median(works.end_ns - works.start_ns) AS step_ns,
            median(works.on_cpu_ns) AS on_cpu_ns,
            median(works.off_cpu_ns) AS off_cpu_ns
        FROM _host_work AS works
        JOIN (
            SELECT recording, pid, tid, count(*) AS steps, avg(launches + graph_launches) AS launches
            FROM step_work
            WHERE step_kind = 'train'
            GROUP BY recording, pid, tid
        ) AS counted ON counted.recording = works.recording AND counted.pid = works.pid AND counted.tid = works.tid
        JOIN kinds ON kinds.recording = works.recording AND kinds.kind = 'sched' AND kinds.state = 'attached'
        JOIN gpu_limit AS limited ON limited.recording = works.recording AND limited.pid = works.pid
        WHERE limited.limits <> 'gpu'
        GROUP BY works.recording, works.pid, works.tid
    ),
    -- The first copy of a batch to the GPU in each step, by any thread of the process.
    batches AS (
        SELECT
            works.recording,
            works.pid,
            works.tid,
            works.step,
            min(calls.ts_ns) AS ts_ns,
            arg_min(calls.bytes, calls.ts_ns) AS bytes
        FROM (
            SELECT recording, pid, ts_ns, bytes
            FROM events
            SEMI JOIN costs ON costs.recording = events.recording AND costs.pid = events.pid
            CROSS JOIN thresholds
            WHERE kind = 'cuda_copy'
                AND copy_kind = 'HtoD'
                AND outermost(depth, ts_ns)
                AND bytes >= thresholds.min_batch_bytes
        ) AS calls
        ASOF JOIN _host_work AS works
            ON works.recording = calls.recording
            AND works.pid = calls.pid
            AND works.start_ns <= calls.ts_ns
        WHERE calls.ts_ns < works.end_ns
        GROUP BY ALL
    ),
    next_copies AS (
        SELECT
            stretches.recording,
            stretches.pid,
            median(batches.bytes) AS bytes,
            sum(CASE
                WHEN batches.ts_ns > stretches.start_ns
                    THEN least(stretches.end_ns, batches.ts_ns) - stretches.start_ns
                ELSE 0
            END) / sum(stretches.end_ns - stretches.start_ns) AS share
        FROM _host_stretches AS stretches
        LEFT JOIN batches
            ON batches.recording = stretches.recording
            AND batches.pid = stretches.pid
            AND batches.tid = stretches.tid
            AND batches.step = stretches.step
        GROUP BY stretches.recording, stretches.pid
    ),
    bounds AS (
        SELECT
            costs.*,
            busy.busy,
            coalesce(next_copies.share >= 0.5, FALSE) AS before_copy,
            next_copies.bytes,
            least(costs.on_cpu_ns, busy.idle_ns) AS lost_ns,
            least(costs.on_cpu_ns, busy.most_idle_ns, costs.step_ns) AS bound_ns,
            busy.least_idle_ns
        FROM costs
        LEFT JOIN next_copies ON next_copies.recording = costs.recording AND next_copies.pid = costs.pid
        LEFT JOIN gpu_busy AS busy ON busy.recording = costs.recording AND busy.pid = costs.pid
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread whose steps these are
    on_cpu_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    lost_ns, -- [ns] on the CPU in no call, at most as the GPU is idle
    bound_ns, -- [ns] saved at most, when nothing waits for it
    least_lost(lost_ns, least_idle_ns) AS least_lost_ns, -- [ns] lost at least, without samples of the GPU
    least_idle_ns, -- [ns] the GPU is idle at least, without samples
    CASE WHEN detailed_steps < steps THEN detailed_steps END AS detailed_steps, -- steps whose launches are known
    format('median of {} steps: {} of {} on the CPU in no recorded call and without a launch, {} off it; ',
        detailed_steps, ms(on_cpu_ns), ms(step_ns), ms(off_cpu_ns))
        || format('launches: {:.0f}; ', launches)
        || CASE
            WHEN detailed_steps < steps THEN format('{} detailed steps of {}; ', detailed_steps, steps)
            ELSE ''
        END
        || CASE WHEN before_copy THEN format('most of it before a copy of {} to the GPU; ', size(bytes)) ELSE '' END
        || CASE WHEN busy IS NULL THEN '' ELSE format('GPU busy {} of the time; ', pct(busy)) END
        AS evidence, -- what it rests on
    CASE
        WHEN before_copy
            THEN 'make the next batch while the step runs: DataLoader workers, a thread that prefetches, or on the GPU'
        ELSE 'find it with py-spy or record_function; do it in another thread or process, less often, or on the GPU'
    END AS advice, -- what to try
    'zernel-analyze phases --parts {}' AS next_command -- to see more
FROM bounds
CROSS JOIN thresholds
WHERE lost_ns >= thresholds.min_share * step_ns
    AND recording NOT IN (SELECT recording FROM files WHERE state = 'trace')
    AND steps >= thresholds.min_steps
    AND detailed_steps >= thresholds.min_detailed
