-- The GPU waits for launches. Enqueueing many small kernels takes a large part of each step, and no launch has to wait.
--
-- Where the driver's samples say how busy the GPU is, the loss is the idle part of the step, at most the time in which
-- the CPU dispatches; else it is only the time inside launch calls, and the code around them comes on top.
-- Does not apply when threads wait for the GPU, when launches block on a full queue, or when the GPU is busy.
--
-- needs: step_work, steps, gpu_usage, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: the view launches lists the kernels; the most frequent ones are the first to fuse
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps after the first
            100 AS min_launches, -- launches per step
            0.1 AS min_share, -- time in launch calls, as a share of step time
            0.1 AS max_wait_share, -- waits for the GPU, as a share of step time
            50000 AS max_launch_ns, -- mean launch: longer ones wait for room in the queue
            0.8 AS max_busy -- utilization of the GPU
    ),
    work AS (
        SELECT
            recording,
            pid,
            any_value(tid) AS tid,
            count(*) AS steps,
            avg(dur_ns) AS step_ns,
            avg(launches) AS launches,
            avg(launch_ns) AS launch_ns,
            avg(sync_ns) AS sync_ns
        FROM step_work
        WHERE step > 1
        GROUP BY recording, pid
    ),
    dispatch AS (
        SELECT recording, pid, tid, avg(gpu_compute_ns + optimizer_step_ns + unknown_ns) AS compute_ns
        FROM steps
        WHERE step > 1
        GROUP BY recording, pid, tid
    ),
    busy AS (
        SELECT recording, max(mean_value) / 100 AS busy
        FROM gpu_usage
        WHERE name = 'utilization'
        GROUP BY recording
    ),
    costs AS (
        SELECT
            work.recording,
            work.pid,
            work.tid,
            work.steps,
            work.step_ns,
            work.launches,
            work.launch_ns,
            work.sync_ns,
            busy.busy,
            CASE
                WHEN busy.busy IS NULL THEN work.launch_ns
                ELSE least(greatest(dispatch.compute_ns - work.sync_ns, 0), (1 - busy.busy) * work.step_ns)
            END AS lost_ns
        FROM work
        JOIN dispatch
            ON dispatch.recording = work.recording
            AND dispatch.pid = work.pid
            AND dispatch.tid = work.tid
        LEFT JOIN busy ON busy.recording = work.recording
        CROSS JOIN thresholds
        WHERE work.steps >= thresholds.min_steps
            AND work.launches >= thresholds.min_launches
            AND work.launch_ns >= thresholds.min_share * work.step_ns
            AND work.launch_ns <= thresholds.max_launch_ns * work.launches
            AND work.sync_ns <= thresholds.max_wait_share * work.step_ns
            AND coalesce(busy.busy, 0) <= thresholds.max_busy
    )
SELECT
    thread_label(recording, pid, tid) AS subject, -- thread whose steps these are
    round(launches, 0) AS value, -- launches per step
    'launches per step' AS unit, -- unit of value
    severity_of(lost_ns / step_ns) AS severity, -- high, medium or low
    round(lost_ns / 1e6, 3) AS lost_ms_per_step, -- [ms] idle GPU, or time in launch calls
    round(step_ns / greatest(step_ns - lost_ns, 1), 2) AS max_speedup, -- bound when launches cost nothing
    format('mean of {} steps: {:.0f} launches take {} of {} to enqueue, {:.1f} us each; waits for the GPU {}; ',
        steps, launches, ms(launch_ns), ms(step_ns), launch_ns / launches / 1e3, ms(sync_ns))
        || CASE WHEN busy IS NULL THEN 'GPU use is unknown' ELSE format('GPU busy {} of the time', pct(busy)) END
        || '; ' || bound_text(step_ns, lost_ns) AS evidence, -- what it rests on
    'launch less: torch.compile(mode="reduce-overhead") or CUDA graphs, fused=True in the optimizer, larger batches'
        AS advice, -- what to try
    format('zernel-analyze sql {} "FROM launches LIMIT 20"', file_label(recording)) AS next_command -- to see more
FROM costs
ORDER BY lost_ms_per_step DESC, subject
LIMIT 20
