-- The GPU waits for launches. Enqueueing many small kernels takes most of each step, and no launch has to wait.
--
-- Dispatching is what is left of a step when waits for data, for the GPU and for other ranks, copies and allocations
-- are taken off, and time without a CPU (cpu_preempted); the median step counts, so that single stalls do not. Lost is
-- the time in which the GPU is idle by the driver's samples, less that without a CPU, and at most the dispatching;
-- without samples it is only the time inside launch calls.
-- Does not apply when threads wait for the GPU, when launches block on a full queue, or when the GPU is busy; nor where
-- other code than launches takes the time (more than 200 us per launch).
--
-- needs: step_work, steps, gpu_busy, preemption, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: the view launches lists the kernels; the most frequent ones are the first to fuse
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            100 AS min_launches, -- launches per step
            0.6 AS min_dispatch, -- dispatching, as a share of the step
            0.05 AS min_share, -- what can be saved, as a share of the step
            0.1 AS min_launch_share, -- time in launch calls, as a share of the step, where use of the GPU is unknown
            50000 AS max_launch_ns, -- [ns] mean launch: longer ones wait for room in the queue
            200000 AS max_dispatch_ns -- [ns] dispatching, per launch
    ),
    work AS (
        SELECT
            work.recording,
            work.pid,
            any_value(work.tid) AS tid,
            count(*) AS steps,
            median(work.dur_ns) AS step_ns,
            median(work.launches) AS launches,
            median(work.launch_ns) AS launch_ns,
            median(work.sync_ns) AS sync_ns,
            median(
                work.dur_ns - steps.data_loading_ns - steps.nccl_collective_ns
                    - (work.sync_ns - work.collective_sync_ns) - work.copy_ns - work.alloc_ns
            ) AS dispatch_ns
        FROM step_work AS work
        JOIN steps
            ON steps.recording = work.recording
            AND steps.pid = work.pid
            AND steps.tid = work.tid
            AND steps.step = work.step
        WHERE work.step_kind = 'train'
        GROUP BY work.recording, work.pid
    ),
    undisturbed AS (
        SELECT
            work.* REPLACE (work.dispatch_ns - coalesce(preemption.per_step_ns, 0) AS dispatch_ns),
            coalesce(preemption.per_step_ns, 0) AS runq_ns
        FROM work
        LEFT JOIN preemption
            ON preemption.recording = work.recording
            AND preemption.pid = work.pid
            AND preemption.tid = work.tid
    ),
    costs AS (
        SELECT
            work.*,
            busy.busy,
            CASE
                WHEN busy.idle_ns IS NULL THEN work.launch_ns
                ELSE least(work.dispatch_ns, (1 - busy.busy) * work.step_ns - work.runq_ns)
            END AS lost_ns,
            least(work.dispatch_ns, busy.most_idle_ns) AS bound_ns
        FROM undisturbed AS work
        LEFT JOIN gpu_busy AS busy ON busy.recording = work.recording AND busy.pid = work.pid
        CROSS JOIN thresholds
        WHERE work.steps >= thresholds.min_steps
            AND work.launches >= thresholds.min_launches
            AND work.dispatch_ns >= thresholds.min_dispatch * work.step_ns
            AND work.dispatch_ns <= thresholds.max_dispatch_ns * work.launches
            AND work.launch_ns <= thresholds.max_launch_ns * work.launches
            AND (busy.busy IS NOT NULL OR work.launch_ns >= thresholds.min_launch_share * work.step_ns)
    )
SELECT
    thread_label(recording, pid, tid) AS subject, -- thread whose steps these are
    round(launches, 0) AS value, -- launches per step
    'launches per step' AS unit, -- unit of value
    severity_of(lost_ns / step_ns) AS severity, -- high, medium or low
    round(lost_ns / 1e6, 3) AS lost_ms_per_step, -- [ms] idle GPU, or time in launch calls
    speedup(step_ns, bound_ns) AS max_speedup, -- bound when dispatching costs nothing
    format('median of {} steps: dispatching {:.0f} launches takes {} of {}, {} of it in the calls ({:.1f} us each); ',
        steps, launches, ms(dispatch_ns), ms(step_ns), ms(launch_ns), launch_ns / launches / 1e3)
        || format('waits for the GPU {}; ', ms(sync_ns))
        || CASE WHEN busy IS NULL THEN 'GPU use is unknown' ELSE format('GPU busy {} of the time', pct(busy)) END
        || '; ' || bound_text(step_ns, bound_ns) AS evidence, -- what it rests on
    'launch less: torch.compile(mode="reduce-overhead") or CUDA graphs, fused=True in the optimizer, larger batches'
        AS advice, -- what to try
    format('zernel-analyze sql {} "FROM launches LIMIT 20"', file_label(recording)) AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE lost_ns >= thresholds.min_share * step_ns
ORDER BY lost_ms_per_step DESC, subject
LIMIT 20
