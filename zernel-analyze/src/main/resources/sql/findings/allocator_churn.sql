-- Device memory is allocated and released in every step. These calls are slow, and a release waits for the GPU.
--
-- A caching allocator should stop asking the driver after the first steps. Looked at is the second half of the steps.
-- Lost is the time in these calls, with what a release waits for, and around them, where the allocator looks for what
-- to release: the time from the call before and to the call after, beyond the usual between two launches and at most as
-- long as the call; where launches were recorded in windows, as it is there. It is lost at most as far as the GPU is
-- idle by the driver's samples.
-- Does not apply while shapes still change for the first time, such as in a short recording of the begin of a job.
--
-- needs: _rare_events, _launched, step_work, _step_spans, gpu_busy, _detail, _window_buckets
-- severity: high from 25 % of step time, medium from 10 %
-- hint: PyTorch counts its retries in torch.cuda.memory_stats()["num_alloc_retries"]
-- lines: these calls WHERE kind IN ('gpu_alloc', 'gpu_free', 'gpu_map') AND step_kind = 'train'
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps in the second half
            1 AS min_per_step, -- calls per step
            0.1 AS min_releases, -- of them, releases per step: without, memory grows (memory_growth)
            0.01 AS min_share -- what can be saved, as a share of step time
    ),
    halves AS (
        SELECT
            recording,
            pid,
            tid,
            step,
            start_ns,
            end_ns,
            dur_ns,
            max(step) OVER (PARTITION BY recording, pid) AS last_step
        FROM step_work
        WHERE step_kind = 'train'
    ),
    work AS (
        SELECT
            recording,
            pid,
            any_value(tid) AS tid,
            count(*) AS steps,
            min(start_ns) AS start_ns,
            max(end_ns) AS end_ns,
            avg(dur_ns) AS step_ns
        FROM halves
        WHERE 2 * step > last_step
        GROUP BY recording, pid
    ),
    managed AS (
        SELECT
            calls.recording,
            calls.pid,
            calls.tid AS caller,
            calls.kind,
            calls.ts_ns AS at_ns,
            calls.ts_ns + coalesce(calls.dur_ns, 0) AS end_ns
        FROM _rare_events AS calls
        JOIN work ON work.recording = calls.recording AND work.pid = calls.pid
        WHERE calls.kind IN ('gpu_alloc', 'gpu_free') AND calls.ts_ns >= work.start_ns AND calls.ts_ns < work.end_ns
    ),
    calls AS (
        SELECT recording, pid, caller AS tid, kind, at_ns AS start_ns, end_ns
        FROM in_spans(managed, _step_spans)
        WHERE trains
    ),
    sums AS (
        SELECT
            calls.recording,
            calls.pid,
            count(CASE WHEN kind = 'gpu_alloc' THEN 1 END) AS allocs,
            count(CASE WHEN kind = 'gpu_free' THEN 1 END) AS frees,
            sum(calls.end_ns - calls.start_ns) AS all_ns
        FROM calls
        JOIN work ON work.recording = calls.recording AND work.pid = calls.pid
        CROSS JOIN thresholds
        GROUP BY calls.recording, calls.pid
        HAVING count(*) >= any_value(thresholds.min_per_step * work.steps)
            AND count(CASE WHEN kind = 'gpu_free' THEN 1 END) >= any_value(thresholds.min_releases * work.steps)
    ),
    -- Calls between which launches are known; in each window of detail, they are those of one sequence.
    surrounded AS (
        SELECT calls.recording, calls.pid, calls.tid, calls.start_ns, calls.end_ns
        FROM calls
        WHERE calls.recording NOT IN (SELECT recording FROM _detail WHERE kind = 'cuda_launch')
        UNION ALL
        SELECT calls.recording, calls.pid, calls.tid, calls.start_ns, calls.end_ns
        FROM calls
        JOIN _window_buckets AS windows
            ON windows.recording = calls.recording
            AND windows.kind = 'cuda_launch'
            AND windows.bucket = calls.start_ns >> 30
        WHERE calls.start_ns >= windows.start_ns AND calls.end_ns <= windows.end_ns
    ),
    -- What the threads that allocate do, one after the other; launches of jobs that do not allocate are not read.
    sequence AS (
        SELECT calls.recording, calls.pid, calls.tid, TRUE AS allocates, calls.start_ns, calls.end_ns
        FROM surrounded AS calls
        JOIN sums ON sums.recording = calls.recording AND sums.pid = calls.pid
        UNION ALL
        SELECT
            launched.recording,
            launched.pid,
            launched.tid,
            FALSE,
            launched.at_ns,
            launched.at_ns + coalesce(launched.dur_ns, 0)
        FROM _launched AS launched
        JOIN sums ON sums.recording = launched.recording AND sums.pid = launched.pid
        JOIN work ON work.recording = launched.recording AND work.pid = launched.pid
        WHERE launched.at_ns >= work.start_ns AND launched.at_ns < work.end_ns
    ),
    gaps AS (
        SELECT
            recording,
            pid,
            allocates,
            lag(allocates) OVER thread_order AS after_allocation,
            end_ns - start_ns AS dur_ns,
            lag(end_ns - start_ns) OVER thread_order AS before_ns,
            start_ns - lag(end_ns) OVER thread_order AS gap_ns
        FROM sequence
        WINDOW thread_order AS (PARTITION BY recording, pid, tid ORDER BY start_ns, end_ns)
    ),
    usual AS (
        SELECT recording, pid, median(gap_ns) AS gap_ns
        FROM gaps
        WHERE NOT allocates AND NOT after_allocation
        GROUP BY ALL
    ),
    surroundings AS (
        SELECT
            gaps.recording,
            gaps.pid,
            -- Without the allocation there would be one usual gap, which is taken off before it.
            sum(least(
                greatest(gaps.gap_ns - CASE WHEN gaps.after_allocation THEN 0 ELSE usual.gap_ns END, 0),
                greatest(
                    CASE WHEN gaps.allocates THEN gaps.dur_ns ELSE 0 END,
                    CASE WHEN gaps.after_allocation THEN gaps.before_ns ELSE 0 END
                )
            )) AS around_ns
        FROM gaps
        JOIN usual ON usual.recording = gaps.recording AND usual.pid = gaps.pid
        WHERE (gaps.allocates OR gaps.after_allocation) AND gaps.gap_ns > 0
        GROUP BY gaps.recording, gaps.pid
    ),
    around AS (
        SELECT
            surroundings.recording,
            surroundings.pid,
            any_value(surroundings.around_ns) * any_value(sums.all_ns) / sum(seen.end_ns - seen.start_ns) AS around_ns
        FROM surroundings
        JOIN sums ON sums.recording = surroundings.recording AND sums.pid = surroundings.pid
        JOIN surrounded AS seen ON seen.recording = surroundings.recording AND seen.pid = surroundings.pid
        GROUP BY surroundings.recording, surroundings.pid
    ),
    costs AS (
        SELECT
            work.recording,
            work.pid,
            work.tid,
            work.steps,
            work.step_ns,
            sums.allocs / work.steps AS allocs,
            sums.frees / work.steps AS frees,
            sums.all_ns / work.steps AS alloc_ns,
            coalesce(around.around_ns, 0) / work.steps AS around_ns,
            least((sums.all_ns + coalesce(around.around_ns, 0)) / work.steps, work.step_ns, busy.idle_ns) AS lost_ns,
            least((sums.all_ns + coalesce(around.around_ns, 0)) / work.steps, work.step_ns, busy.most_idle_ns)
                AS bound_ns,
            busy.least_idle_ns
        FROM work
        JOIN sums ON sums.recording = work.recording AND sums.pid = work.pid
        LEFT JOIN around ON around.recording = work.recording AND around.pid = work.pid
        LEFT JOIN gpu_busy AS busy ON busy.recording = work.recording AND busy.pid = work.pid
        CROSS JOIN thresholds
        WHERE work.steps >= thresholds.min_steps
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread whose steps these are
    round(allocs + frees, 1) AS value, -- calls per step
    'allocations and releases per step' AS unit, -- unit of value
    step_ns, -- [ns] step
    lost_ns, -- [ns] in and around these calls, at most as the GPU is idle
    bound_ns, -- [ns] saved at most, when there are none
    least_lost(lost_ns, least_idle_ns) AS least_lost_ns, -- [ns] lost at least, without samples of the GPU
    least_idle_ns, -- [ns] the GPU is idle at least, without samples
    format('mean of the last {} steps: {:.1f} allocations and {:.1f} releases take {} of {}, and {} around them; ',
        steps, allocs, frees, ms(alloc_ns), ms(step_ns), ms(around_ns)) AS evidence, -- what it rests on
    'no torch.cuda.empty_cache() in the loop; PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; pad to few shapes'
        AS advice, -- what to try
    'zernel-analyze memory {}' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE lost_ns >= thresholds.min_share * step_ns
