-- The GPU waits for other work on the CPU. The thread that launches runs in no recorded call for much of each step.
--
-- Such work is making batches in the training loop, Python between the calls, or logging; sched says that the thread
-- was on a CPU meanwhile. Where most of it comes before the first copy to the GPU, the step's batch is made in it. Lost
-- is this time in the median step, so that single stalls do not count, at most as the GPU is idle by the driver's
-- samples.
-- Does not apply where the time goes into launching (launch_bound), where the GPU is the limit (gpu_limit), to jobs
-- that launch nothing on a GPU, nor where time off the CPU was not recorded.
--
-- needs: steps, step_mean, step_work, _segments, _switches, events, gpu_limit, gpu_busy, kinds, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: with torch.profiler.record_function("...") around the suspects a recording names them; no profiler needs to run
-- lines: that work WHERE works
WITH
    thresholds AS (
        SELECT
            10 AS min_steps, -- steps of kind train
            0.2 AS min_share, -- on the CPU in no call, as a share of the step
            200000 AS min_dispatch_ns, -- [ns] of it, per launch: less is the work of launching
            65536 AS min_batch_bytes -- [bytes] a copy to the GPU from which on it may be a batch
    ),
    threads AS (
        SELECT
            means.recording,
            means.pid,
            means.tid,
            means.steps,
            means.step_ns,
            work.launches
        FROM step_mean AS means
        JOIN (
            SELECT recording, pid, any_value(tid) AS tid, avg(launches + graph_launches) AS launches
            FROM step_work
            WHERE step_kind = 'train'
            GROUP BY recording, pid
        ) AS work ON work.recording = means.recording AND work.pid = means.pid AND work.tid = means.tid
        JOIN kinds ON kinds.recording = means.recording AND kinds.kind = 'sched' AND kinds.state = 'attached'
        JOIN gpu_limit ON gpu_limit.recording = means.recording AND gpu_limit.pid = means.pid
        CROSS JOIN thresholds
        WHERE gpu_limit.limits <> 'gpu'
            AND means.steps >= thresholds.min_steps
            AND work.launches > 0
            AND means.unknown_ns >= thresholds.min_share * means.step_ns
    ),
    trained AS (
        SELECT steps.recording, steps.pid, steps.tid, steps.step, steps.start_ns, steps.end_ns
        FROM steps
        JOIN threads ON threads.recording = steps.recording AND threads.pid = steps.pid AND threads.tid = steps.tid
        WHERE steps.step_kind = 'train'
    ),
    unknown AS (
        SELECT
            trained.recording,
            trained.pid,
            trained.tid,
            trained.step,
            segments.start_ns,
            least(segments.end_ns, trained.end_ns) AS end_ns
        FROM _segments AS segments
        ASOF JOIN trained
            ON trained.recording = segments.recording
            AND trained.pid = segments.pid
            AND trained.tid = segments.tid
            AND trained.start_ns <= segments.start_ns
        WHERE segments.phase = 'Unknown' AND segments.start_ns < trained.end_ns
    ),
    off AS (
        SELECT
            unknown.recording,
            unknown.pid,
            unknown.tid,
            unknown.start_ns,
            sum(least(switches.ts_ns + switches.dur_ns, unknown.end_ns) - switches.ts_ns) AS dur_ns
        FROM (
            SELECT spans.recording, spans.pid, spans.tid, spans.ts_ns, spans.dur_ns
            FROM _switches AS spans
            SEMI JOIN threads
                ON threads.recording = spans.recording
                AND threads.pid = spans.pid
                AND threads.tid = spans.tid
        ) AS switches
        ASOF JOIN unknown
            ON unknown.recording = switches.recording
            AND unknown.pid = switches.pid
            AND unknown.tid = switches.tid
            AND unknown.start_ns <= switches.ts_ns
        WHERE switches.dur_ns > 0 AND switches.ts_ns < unknown.end_ns
        GROUP BY ALL
    ),
    running AS (
        SELECT
            unknown.recording,
            unknown.pid,
            unknown.tid,
            unknown.step,
            unknown.end_ns - unknown.start_ns - coalesce(off.dur_ns, 0) AS on_cpu_ns,
            coalesce(off.dur_ns, 0) AS off_cpu_ns
        FROM unknown
        LEFT JOIN off
            ON off.recording = unknown.recording
            AND off.pid = unknown.pid
            AND off.tid = unknown.tid
            AND off.start_ns = unknown.start_ns
    ),
    -- The first copy of a batch to the GPU in each step, by any thread of the process.
    batches AS (
        SELECT
            trained.recording,
            trained.pid,
            trained.tid,
            trained.step,
            min(calls.ts_ns) AS ts_ns,
            arg_min(calls.bytes, calls.ts_ns) AS bytes
        FROM (
            SELECT recording, pid, ts_ns, bytes
            FROM events
            SEMI JOIN threads ON threads.recording = events.recording AND threads.pid = events.pid
            CROSS JOIN thresholds
            WHERE kind = 'cuda_copy'
                AND copy_kind = 'HtoD'
                AND outermost(depth, ts_ns)
                AND bytes >= thresholds.min_batch_bytes
        ) AS calls
        ASOF JOIN trained
            ON trained.recording = calls.recording
            AND trained.pid = calls.pid
            AND trained.start_ns <= calls.ts_ns
        WHERE calls.ts_ns < trained.end_ns
        GROUP BY ALL
    ),
    next_copies AS (
        SELECT
            unknown.recording,
            unknown.pid,
            median(batches.bytes) AS bytes,
            sum(CASE
                WHEN batches.ts_ns > unknown.start_ns THEN least(unknown.end_ns, batches.ts_ns) - unknown.start_ns
                ELSE 0
            END) / sum(unknown.end_ns - unknown.start_ns) AS share
        FROM unknown
        LEFT JOIN batches
            ON batches.recording = unknown.recording
            AND batches.pid = unknown.pid
            AND batches.tid = unknown.tid
            AND batches.step = unknown.step
        GROUP BY unknown.recording, unknown.pid
    ),
    worked AS (
        SELECT
            trained.recording,
            trained.pid,
            trained.tid,
            trained.step,
            any_value(trained.end_ns - trained.start_ns) AS dur_ns,
            coalesce(sum(running.on_cpu_ns), 0) AS on_cpu_ns,
            coalesce(sum(running.off_cpu_ns), 0) AS off_cpu_ns
        FROM trained
        LEFT JOIN running
            ON running.recording = trained.recording
            AND running.pid = trained.pid
            AND running.tid = trained.tid
            AND running.step = trained.step
        GROUP BY ALL
    ),
    costs AS (
        SELECT
            worked.recording,
            worked.pid,
            worked.tid,
            any_value(threads.steps) AS steps,
            any_value(threads.launches) AS launches,
            median(worked.dur_ns) AS step_ns,
            median(worked.on_cpu_ns) AS on_cpu_ns,
            median(worked.off_cpu_ns) AS off_cpu_ns
        FROM worked
        JOIN threads
            ON threads.recording = worked.recording
            AND threads.pid = worked.pid
            AND threads.tid = worked.tid
        GROUP BY worked.recording, worked.pid, worked.tid
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
    format('median of {} steps: {} of {} on the CPU in no recorded call, {} off it; launches: {:.0f}; ',
        steps, ms(on_cpu_ns), ms(step_ns), ms(off_cpu_ns), launches)
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
    AND on_cpu_ns >= thresholds.min_dispatch_ns * launches
