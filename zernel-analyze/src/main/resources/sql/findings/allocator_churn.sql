-- Device memory is allocated and released in every step. These calls are slow, and a release waits for the GPU.
--
-- A caching allocator should stop asking the driver after the first steps. Looked at is the second half of the steps.
-- Lost is the time in these calls, at most as the GPU is idle by the driver's samples. A release first waits for what
-- the GPU has to do, so a call counts twice the usual of its function at most.
-- Does not apply while shapes still change for the first time, such as in a short recording of the begin of a job.
--
-- needs: _rare_events, step_work, gpu_busy, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: PyTorch counts its retries in torch.cuda.memory_stats()["num_alloc_retries"]
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps in the second half
            1 AS min_per_step, -- calls per step
            2 AS max_usual, -- times the median of its function that a call can count
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
    calls AS (
        SELECT
            work.recording,
            work.pid,
            calls.kind,
            calls.dur_ns,
            median(calls.dur_ns) OVER (PARTITION BY work.recording, work.pid, calls.name) AS usual_ns
        FROM _rare_events AS calls
        JOIN work ON work.recording = calls.recording AND work.pid = calls.pid
        WHERE calls.kind IN ('gpu_alloc', 'gpu_free') AND calls.ts_ns >= work.start_ns AND calls.ts_ns < work.end_ns
    ),
    sums AS (
        SELECT
            calls.recording,
            calls.pid,
            count(CASE WHEN kind = 'gpu_alloc' THEN 1 END) AS allocs,
            count(CASE WHEN kind = 'gpu_free' THEN 1 END) AS frees,
            sum(dur_ns) AS all_ns,
            sum(least(dur_ns, thresholds.max_usual * usual_ns)) AS own_ns
        FROM calls
        CROSS JOIN thresholds
        GROUP BY calls.recording, calls.pid
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
            sums.own_ns / work.steps AS own_ns,
            least(sums.own_ns / work.steps, busy.idle_ns) AS lost_ns,
            least(sums.all_ns / work.steps, busy.most_idle_ns) AS bound_ns
        FROM work
        JOIN sums ON sums.recording = work.recording AND sums.pid = work.pid
        LEFT JOIN gpu_busy AS busy ON busy.recording = work.recording AND busy.pid = work.pid
        CROSS JOIN thresholds
        WHERE work.steps >= thresholds.min_steps
            AND sums.allocs + sums.frees >= thresholds.min_per_step * work.steps
    )
SELECT
    thread_label(recording, pid, tid) AS subject, -- thread whose steps these are
    round(allocs + frees, 1) AS value, -- calls per step
    'allocations and releases per step' AS unit, -- unit of value
    severity_of(lost_ns / step_ns) AS severity, -- high, medium or low
    round(lost_ns / 1e6, 3) AS lost_ms_per_step, -- [ms] in these calls, at most as the GPU is idle
    speedup(step_ns, bound_ns) AS max_speedup, -- bound when there are none
    format('mean of the last {} steps: {:.1f} allocations and {:.1f} releases take {} of {}, {} without waits; ',
        steps, allocs, frees, ms(alloc_ns), ms(step_ns), ms(own_ns))
        || bound_text(step_ns, bound_ns) AS evidence, -- what it rests on
    'no torch.cuda.empty_cache() in the loop; PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; pad to few shapes'
        AS advice, -- what to try
    format('zernel-analyze memory {}', file_label(recording)) AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE lost_ns >= thresholds.min_share * step_ns
ORDER BY lost_ms_per_step DESC, subject
LIMIT 20
