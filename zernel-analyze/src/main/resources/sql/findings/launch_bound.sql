-- The GPU waits for launches. Enqueueing many small kernels takes most of each step, and no launch has to wait.
--
-- Dispatching is what is left of a step when waits for data, for the GPU and for other ranks, copies and allocations
-- are taken off, long stretches of other work (host_bound) and time off the CPU in them, time without a CPU
-- (cpu_preempted), and what recording adds by its own measure; the median step
-- counts, so that single stalls do not; where launches were recorded in windows, times are those of steps without, in
-- which recording adds nothing. Lost is how much longer it takes than the GPU is busy besides: by the driver's
-- samples, and at least as long as so many kernels take. Few samples give a range, and where that leaves room for a GPU
-- that is as busy as the CPU, the two are close and there is no finding. Without a driver to sample, lost is at least
-- the time inside launch calls, and in the middle of what the waits for the GPU leave open.
-- Does not apply where the GPU is the limit (view gpu_limit): it is busy, launches block on a full queue, or threads
-- wait for it; nor where other code than launches takes the time (more than 200 us per launch, 1 ms inside
-- forward, backward and optimizer).
--
-- needs: step_work, steps, gpu_busy, gpu_limit, preemption, overhead, _thread_kinds, _host_work, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: the view launches lists the kernels; the most frequent ones are the first to fuse
-- lines: the time on a CPU WHERE thread = 'training' AND kind = 'sample' AND step_kind = 'train'
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            3 AS min_detailed, -- of them, steps whose launches are known
            100 AS min_launches, -- launches per step
            0.6 AS min_dispatch, -- dispatching, as a share of the step without other work
            0.05 AS min_share, -- what can be saved, as a share of the step
            200000 AS max_dispatch_ns, -- [ns] dispatching, per launch, where other code may be the cause
            1000000 AS max_called_ns, -- [ns] the same where nearly all of it is in forward, backward and optimizer
            0.1 AS max_unknown, -- time outside every recorded call up to which that is so, as a share of the step
            1500 AS kernel_ns -- [ns] from the start of the smallest kernel to that of the next
    ),
    launching AS (
        SELECT
            work.recording,
            work.pid,
            count(*) AS all_steps,
            count(work.launches) AS detailed_steps,
            median(work.launches) AS launches,
            median(work.launch_ns) AS launch_ns,
            avg(work.dur_ns) AS mean_ns,
            count(*) FILTER (WHERE work.detail_share = 0)
                >= greatest(any_value(thresholds.min_steps), 0.5 * count(work.launches)) AS without
        FROM step_work AS work
        CROSS JOIN thresholds
        WHERE work.step_kind = 'train'
        GROUP BY work.recording, work.pid
    ),
    work AS (
        SELECT
            work.recording,
            work.pid,
            any_value(work.tid) AS tid,
            count(*) AS steps,
            any_value(launching.all_steps) AS all_steps,
            any_value(launching.detailed_steps) AS detailed_steps,
            any_value(launching.without) AS without,
            median(work.dur_ns) AS step_ns,
            any_value(launching.mean_ns) AS mean_ns,
            any_value(launching.launches) AS launches,
            any_value(launching.launch_ns) AS launch_ns,
            median(work.sync_ns) AS sync_ns,
            median(steps.unknown_ns) AS unknown_ns,
            median(
                work.dur_ns - steps.data_loading_ns - steps.nccl_collective_ns
                    - (work.sync_ns - work.collective_sync_ns) - work.copy_ns - work.alloc_ns
            ) AS dispatch_ns
        FROM step_work AS work
        JOIN launching ON launching.recording = work.recording AND launching.pid = work.pid
        JOIN steps
            ON steps.recording = work.recording
            AND steps.pid = work.pid
            AND steps.tid = work.tid
            AND steps.step = work.step
        WHERE work.step_kind = 'train' AND (work.detail_share = 0 OR NOT launching.without)
        GROUP BY work.recording, work.pid
    ),
    recorded AS (
        -- Start-up and warm-up have their part by their launches.
        SELECT
            kinds.recording,
            kinds.pid,
            sum(kinds.events) * any_value(overhead.cost_ns) * any_value(shares.step_share) AS recording_ns
        FROM _thread_kinds AS kinds
        JOIN overhead ON overhead.recording = kinds.recording
        JOIN (
            SELECT
                recording,
                pid,
                avg(launches) FILTER (WHERE step_kind = 'train') / nullif(sum(launches), 0) AS step_share
            FROM step_work
            GROUP BY recording, pid
        ) AS shares ON shares.recording = kinds.recording AND shares.pid = kinds.pid
        WHERE kinds.kind IN ('cuda_launch', 'cuda_copy', 'torch_alloc', 'torch_free', 'torch_op', 'py_call', 'call')
        GROUP BY kinds.recording, kinds.pid
    ),
    other_work AS (
        SELECT recording, pid, median(on_cpu_ns + off_cpu_ns) AS other_ns
        FROM _host_work
        GROUP BY recording, pid
    ),
    undisturbed AS (
        SELECT
            work.* REPLACE (
                work.dispatch_ns - coalesce(preemption.per_step_ns, 0) - coalesce(recorded.recording_ns, 0)
                    - coalesce(other_work.other_ns, 0) AS dispatch_ns
            ),
            coalesce(recorded.recording_ns, 0) AS recording_ns,
            coalesce(other_work.other_ns, 0) AS other_ns
        FROM work
        LEFT JOIN other_work ON other_work.recording = work.recording AND other_work.pid = work.pid
        LEFT JOIN preemption
            ON preemption.recording = work.recording
            AND preemption.pid = work.pid
            AND preemption.tid = work.tid
        LEFT JOIN recorded
            ON recorded.recording = work.recording
            AND recorded.pid = work.pid
            AND NOT work.without
    ),
    running AS (
        SELECT
            work.*,
            busy.busy IS NOT NULL AS sampled,
            CASE WHEN busy.samples = 0 THEN 'trace' ELSE 'NVML' END AS source,
            greatest(
                coalesce(busy.train_busy, (busy.least_train_busy + busy.most_train_busy) / 2, 1) * mean_ns,
                launches * kernel_ns
            ) AS gpu_ns,
            greatest(coalesce(busy.least_train_busy, 0) * mean_ns, launches * kernel_ns) AS least_gpu_ns,
            greatest(coalesce(busy.most_train_busy, 1) * mean_ns, launches * kernel_ns) AS most_gpu_ns,
            busy.train_busy,
            busy.least_train_busy,
            busy.most_train_busy
        FROM undisturbed AS work
        LEFT JOIN gpu_busy AS busy ON busy.recording = work.recording AND busy.pid = work.pid
        CROSS JOIN thresholds
    ),
    costs AS (
        SELECT
            running.*,
            CASE
                WHEN sampled THEN dispatch_ns - greatest(gpu_ns - sync_ns, 0)
                ELSE greatest(dispatch_ns - greatest(gpu_ns - sync_ns, 0), least(launch_ns, dispatch_ns))
            END AS lost_ns,
            CASE
                WHEN sampled THEN dispatch_ns - greatest(most_gpu_ns - sync_ns, 0)
                ELSE least(launch_ns, dispatch_ns)
            END AS least_lost_ns,
            least(dispatch_ns, step_ns - least_gpu_ns) AS bound_ns
        FROM running
        CROSS JOIN thresholds
        ANTI JOIN gpu_limit AS limited
            ON limited.recording = running.recording
            AND limited.pid = running.pid
            AND limited.limits = 'gpu'
        WHERE steps >= thresholds.min_steps
            AND detailed_steps >= thresholds.min_detailed
            AND launches >= thresholds.min_launches
            AND dispatch_ns >= thresholds.min_dispatch * (step_ns - other_ns)
            AND dispatch_ns <= launches * CASE
                WHEN unknown_ns <= thresholds.max_unknown * step_ns THEN thresholds.max_called_ns
                ELSE thresholds.max_dispatch_ns
            END
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread whose steps these are
    round(launches, 0) AS value, -- launches per step
    'launches per step' AS unit, -- unit of value
    CASE WHEN sampled THEN severity_of(lost_ns / step_ns) END AS severity, -- by what is lost, where samples tell that
    step_ns, -- [ns] step
    lost_ns, -- [ns] longer than the GPU is busy, or time in launch calls
    bound_ns, -- [ns] saved at most, when dispatching costs nothing
    least_lost_ns, -- [ns] lost at least, as far as samples tell
    CASE WHEN detailed_steps < all_steps THEN detailed_steps END AS detailed_steps, -- steps whose launches are known
    format('median of {} steps: dispatching {:.0f} launches takes {} of {}, {} of it in the calls ({:.1f} us each); ',
        steps, launches, ms(dispatch_ns), ms(step_ns), ms(launch_ns), launch_ns / launches / 1e3)
        || CASE WHEN recording_ns > 0 THEN format('{} more is what recording adds; ', ms(recording_ns)) ELSE '' END
        || CASE WHEN other_ns > 0 THEN format('{} are other work without a launch; ', ms(other_ns)) ELSE '' END
        || CASE
            WHEN detailed_steps < all_steps
                THEN format('launches of {} detailed steps of {}; ', detailed_steps, all_steps)
            ELSE ''
        END
        || format('waits for the GPU {}; ', ms(sync_ns))
        || CASE
            WHEN sampled THEN format('GPU busy {} of the time ({}: {} to {}), {} per step',
                pct(train_busy), source, pct(least_train_busy), pct(most_train_busy), ms(gpu_ns))
            ELSE format('GPU use was not sampled, so between {} and {} are lost', ms(least_lost_ns), ms(bound_ns))
        END AS evidence, -- what it rests on
    'launch less: torch.compile(mode="reduce-overhead") or CUDA graphs, larger batches, in training fused=True'
        AS advice, -- what to try
    'zernel-analyze sql {} "FROM launches LIMIT 20"' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE least_lost_ns >= thresholds.min_share * step_ns
    AND recording NOT IN (SELECT recording FROM files WHERE state = 'trace')
