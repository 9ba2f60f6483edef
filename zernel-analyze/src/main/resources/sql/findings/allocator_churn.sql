-- Device memory is allocated and released in every step. These calls are slow, and a release waits for the GPU.
--
-- A caching allocator should stop asking the driver after the first steps. Looked at is the second half of the steps.
-- Lost is the time in these calls, at most as the GPU is idle by the driver's samples: a release first waits for what
-- the GPU has to do.
-- Does not apply while shapes still change for the first time, such as in a short recording of the begin of a job.
--
-- needs: step_work, gpu_busy, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: PyTorch counts its retries in torch.cuda.memory_stats()["num_alloc_retries"]
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps in the second half
            1 AS min_per_step, -- calls per step
            0.01 AS min_share, -- what can be saved, as a share of step time
            0.03 AS sample_error -- of the driver's samples, for the bound
    ),
    halves AS (
        SELECT
            recording,
            pid,
            tid,
            step,
            dur_ns,
            allocs,
            frees,
            alloc_ns,
            max(step) OVER (PARTITION BY recording, pid) AS last_step
        FROM step_work
    ),
    work AS (
        SELECT
            recording,
            pid,
            any_value(tid) AS tid,
            count(*) AS steps,
            avg(dur_ns) AS step_ns,
            avg(allocs) AS allocs,
            avg(frees) AS frees,
            avg(alloc_ns) AS alloc_ns
        FROM halves
        WHERE 2 * step > last_step AND step > 1
        GROUP BY recording, pid
    ),
    costs AS (
        SELECT
            work.*,
            least(work.alloc_ns, coalesce(busy.idle_ns, work.alloc_ns)) AS lost_ns,
            least(work.alloc_ns, coalesce(busy.idle_ns + thresholds.sample_error * work.step_ns, work.alloc_ns))
                AS bound_ns
        FROM work
        LEFT JOIN gpu_busy AS busy ON busy.recording = work.recording AND busy.pid = work.pid
        CROSS JOIN thresholds
        WHERE work.steps >= thresholds.min_steps AND work.allocs + work.frees >= thresholds.min_per_step
    )
SELECT
    thread_label(recording, pid, tid) AS subject, -- thread whose steps these are
    round(allocs + frees, 1) AS value, -- calls per step
    'allocations and releases per step' AS unit, -- unit of value
    severity_of(lost_ns / step_ns) AS severity, -- high, medium or low
    round(lost_ns / 1e6, 3) AS lost_ms_per_step, -- [ms] in these calls, at most as the GPU is idle
    round(step_ns / greatest(step_ns - bound_ns, 1), 2) AS max_speedup, -- bound when there are none
    format('mean of the last {} steps: {:.1f} allocations and {:.1f} releases take {} of {}; ',
        steps, allocs, frees, ms(alloc_ns), ms(step_ns))
        || bound_text(step_ns, bound_ns) AS evidence, -- what it rests on
    'no torch.cuda.empty_cache() in the loop; PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; pad to few shapes'
        AS advice, -- what to try
    format('zernel-analyze memory {}', file_label(recording)) AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE lost_ns >= thresholds.min_share * step_ns
ORDER BY lost_ms_per_step DESC, subject
LIMIT 20
