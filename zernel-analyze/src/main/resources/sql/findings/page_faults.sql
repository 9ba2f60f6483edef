-- Each step faults memory in that the process gave back before. Usually the allocator returns it as soon as it is free.
--
-- glibc's malloc unmaps large blocks when they are freed, and trims the end of its heap; the next step gets the same
-- memory page by page, each zeroed by the kernel in a page fault. Files that are mapped anew in each step do the same,
-- without malloc. Counted are page faults without I/O and the time that the process is in the kernel, from samples of
-- the kernel's own counters, while memory in place hardly grows. Samples between which there was a checkpoint, an
-- evaluation or warm-up do not count: what those fault in is no part of the other steps.
-- Lost is, where the CPUs were sampled, the time of the training thread in page faults and in system calls that map,
-- unmap, grow and shrink memory, from the samples that found it there, at most as the GPU is idle by the driver's
-- samples. The page that a fault has zeroed is in the cache of the CPU, so that what is saved can be less; what
-- interrupts put off, as to receive packets, counts too, and a small part of what probes of functions take.
-- Does not apply to processes that grow, to data workers, nor where the kernel takes less than a twentieth of a step or
-- other threads have the faults.
--
-- needs: step_mean, steps, stack_events, gpu_busy, _trained, _host_changes, events
-- severity: high from 25 % of step time, medium from 10 %; low where the CPUs were not sampled
-- hint: the allocator's own settings: man mallopt; perf record -e page-faults names the functions
-- lines: the page faults WHERE thread = 'training' AND step_kind = 'train' AND for_memory
WITH
    thresholds AS (
        SELECT
            20 AS min_steps, -- steps of kind train
            500 AS min_faults, -- of a step: 2 MB
            0.05 AS min_share, -- of a step, in the kernel
            0.02 AS min_lost, -- of a step, by the training thread's samples
            0.15 AS min_system, -- of the process's CPU time, in the kernel
            0.1 AS most_growth, -- of memory in place, as a share of what is faulted in
            4096 AS page_bytes, -- [bytes] of a page fault, at least
            2 AS deviations -- standard deviations that a number of samples may be wrong
    ),
    windows AS (
        SELECT recording, pid, min(start_ns) AS start_ns, max(end_ns) AS end_ns
        FROM _trained
        GROUP BY recording, pid
    ),
    -- Between two samples, with steps of kind train only.
    spans AS (
        SELECT
            windows.recording,
            windows.pid,
            changes.start_ns,
            changes.end_ns
        FROM windows
        JOIN _host_changes AS changes
            ON changes.recording = windows.recording
            AND changes.pid = windows.pid
            AND changes.start_ns >= windows.start_ns
            AND changes.end_ns <= windows.end_ns
        WHERE changes.name = 'minor_faults'
            AND NOT EXISTS (
                SELECT 1
                FROM steps AS others
                WHERE others.recording = changes.recording
                    AND others.pid = changes.pid
                    AND others.step_kind <> 'train'
                    AND others.start_ns < changes.end_ns
                    AND others.end_ns > changes.start_ns
            )
    ),
    counted AS (
        SELECT
            spans.recording,
            spans.pid,
            sum(changes.change) FILTER (changes.name = 'minor_faults')
                / sum(changes.end_ns - changes.start_ns) FILTER (changes.name = 'minor_faults') AS faults,
            sum(changes.change) FILTER (changes.name = 'cpu_system')
                / sum(changes.end_ns - changes.start_ns) FILTER (changes.name = 'cpu_system') AS system_cpus,
            sum(changes.change) FILTER (changes.name = 'cpu')
                / sum(changes.end_ns - changes.start_ns) FILTER (changes.name = 'cpu') AS all_cpus,
            sum(changes.change) FILTER (changes.name = 'minor_faults') AS all_faults
        FROM spans
        JOIN _host_changes AS changes
            ON changes.recording = spans.recording
            AND changes.pid = spans.pid
            AND changes.start_ns = spans.start_ns
            AND changes.end_ns = spans.end_ns
        GROUP BY ALL
    ),
    sizes AS (
        SELECT
            spans.recording,
            spans.pid,
            max(events.value) - min(events.value) AS growth_bytes
        FROM spans
        JOIN events ON events.recording = spans.recording AND events.pid = spans.pid
        WHERE events.kind = 'host_sample'
            AND events.name = 'rss'
            AND events.ts_ns BETWEEN spans.start_ns AND spans.end_ns
        GROUP BY ALL
    ),
    sampled AS (
        SELECT
            samples.recording,
            samples.pid,
            samples.tid,
            count(*) FILTER (samples.for_memory) AS samples,
            coalesce(sum(samples.ns) FILTER (samples.for_memory), 0) AS ns,
            coalesce(sum(samples.ns) FILTER (samples.for_memory), 0)
                * greatest(1 - thresholds.deviations / sqrt(greatest(count(*) FILTER (samples.for_memory), 1)), 0)
                AS least_ns
        FROM stack_events AS samples
        ASOF JOIN steps
            ON steps.recording = samples.recording
            AND steps.pid = samples.pid
            AND steps.tid = samples.tid
            AND steps.start_ns <= samples.middle_ns
        CROSS JOIN thresholds
        WHERE samples.kind = 'sample'
            AND samples.ns > 0
            AND samples.middle_ns < steps.end_ns
            AND steps.step_kind = 'train'
        GROUP BY samples.recording, samples.pid, samples.tid, thresholds.deviations
    ),
    costs AS (
        SELECT
            counted.recording,
            counted.pid,
            means.tid,
            means.steps,
            means.step_ns,
            counted.faults * means.step_ns AS faults,
            counted.system_cpus * means.step_ns AS system_ns,
            counted.system_cpus / nullif(counted.all_cpus, 0) AS system_share,
            counted.all_faults,
            sizes.growth_bytes,
            sampled.samples,
            sampled.ns / means.steps AS memory_ns,
            sampled.least_ns / means.steps AS least_memory_ns,
            busy.idle_ns,
            busy.most_idle_ns,
            busy.least_idle_ns
        FROM counted
        JOIN sizes ON sizes.recording = counted.recording AND sizes.pid = counted.pid
        JOIN (
            SELECT
                recording,
                pid,
                arg_max(tid, steps) AS tid,
                max(steps) AS steps,
                arg_max(step_ns, steps) AS step_ns
            FROM step_mean
            GROUP BY recording, pid
        ) AS means ON means.recording = counted.recording AND means.pid = counted.pid
        LEFT JOIN sampled
            ON sampled.recording = means.recording
            AND sampled.pid = means.pid
            AND sampled.tid = means.tid
        LEFT JOIN gpu_busy AS busy ON busy.recording = sampled.recording AND busy.pid = sampled.pid
    )
SELECT
    recording, -- recording
    pid, -- process
    round(faults) AS value, -- page faults of a mean step
    'page faults a step' AS unit, -- unit of value
    step_ns, -- [ns] step
    least(memory_ns, idle_ns) AS lost_ns, -- [ns] in page faults and calls for memory, at most as the GPU is idle
    least(memory_ns, most_idle_ns) AS bound_ns, -- [ns] saved at most, when memory is kept
    least_lost(least(least_memory_ns, idle_ns), least_idle_ns) AS least_lost_ns, -- [ns] lost at least
    least_idle_ns, -- [ns] the GPU is idle at least, without samples
    CASE WHEN memory_ns IS NULL THEN 'low' END AS severity, -- low, where it is not that by what is lost
    format('mean of {} steps of {}: {:.0f} page faults without I/O, {} at least; {} of its CPU time, {} a step, is in ',
        steps, ms(step_ns), faults, size(faults * thresholds.page_bytes), pct(system_share), ms(system_ns))
        || format('the kernel; memory in place changed by {} meanwhile', size(growth_bytes))
        || CASE
            WHEN memory_ns IS NULL THEN ''
            ELSE format(
                '; {} samples found the training thread in page faults and calls for memory, {} a step; ',
                samples, ms(memory_ns)
            )
        END AS evidence, -- what it rests on
    'unless it maps files: let malloc keep memory (MALLOC_TRIM_THRESHOLD_=2000000000 MALLOC_MMAP_MAX_=0, or jemalloc)'
        AS advice, -- what to try
    'zernel-analyze sql {} "FROM host_curve"' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE steps >= thresholds.min_steps
    AND faults >= thresholds.min_faults
    AND system_ns >= thresholds.min_share * step_ns
    AND system_share >= thresholds.min_system
    AND (memory_ns >= thresholds.min_lost * step_ns) IS NOT FALSE
    AND growth_bytes <= thresholds.most_growth * all_faults * thresholds.page_bytes
