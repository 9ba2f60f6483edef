-- Copies to the GPU come from pageable memory. Such a call copies through a buffer of the driver before it returns.
--
-- Lost is the time in these calls on the training thread. From pinned memory the copy would only be enqueued, and run
-- beside the computation.
-- Does not apply where the host memory's kind is unknown, because it was allocated before recording began.
--
-- needs: _rare_events, step_work, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: pin_memory alone does not help without non_blocking
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps after the first
            0.02 AS min_share -- time in these copies, as a share of step time
    ),
    pageable AS (
        SELECT recording, pid, tid, ts_ns, dur_ns, bytes
        FROM _rare_events
        WHERE kind = 'cuda_copy'
            AND copy_kind = 'HtoD'
            AND host_memory = 'pageable'
            AND dur_ns IS NOT NULL
    ),
    copied AS (
        SELECT
            spans.recording,
            spans.pid,
            count(*) AS copies,
            sum(pageable.dur_ns) AS copy_ns,
            sum(pageable.bytes) AS bytes
        FROM pageable
        ASOF JOIN step_work AS spans
            ON spans.recording = pageable.recording
            AND spans.pid = pageable.pid
            AND spans.tid = pageable.tid
            AND spans.start_ns <= pageable.ts_ns
        WHERE pageable.ts_ns < spans.end_ns AND spans.step > 1
        GROUP BY ALL
    ),
    work AS (
        SELECT recording, pid, any_value(tid) AS tid, count(*) AS steps, sum(dur_ns) AS all_ns
        FROM step_work
        WHERE step > 1
        GROUP BY recording, pid
    ),
    costs AS (
        SELECT
            work.recording,
            work.pid,
            work.tid,
            work.steps,
            work.all_ns / work.steps AS step_ns,
            copied.copy_ns / work.steps AS copy_ns,
            copied.copies / work.steps AS copies,
            copied.bytes / work.steps AS bytes
        FROM copied
        JOIN work ON work.recording = copied.recording AND work.pid = copied.pid
        CROSS JOIN thresholds
        WHERE work.steps >= thresholds.min_steps
            AND copied.copy_ns >= thresholds.min_share * work.all_ns
    )
SELECT
    thread_label(recording, pid, tid) AS subject, -- thread that copies
    round(bytes / 1e6, 1) AS value, -- megabytes per step
    'MB per step' AS unit, -- unit of value
    severity_of(copy_ns / step_ns) AS severity, -- high, medium or low
    round(copy_ns / 1e6, 3) AS lost_ms_per_step, -- [ms] in these calls
    round(step_ns / greatest(step_ns - copy_ns, 1), 2) AS max_speedup, -- bound when they cost nothing
    format('mean of {} steps: {:.1f} copies from pageable memory, {:.1f} MB in {} ({:.1f} GB/s); ',
        steps, copies, bytes / 1e6, ms(copy_ns), bytes / copy_ns)
        || bound_text(step_ns, copy_ns) AS evidence, -- what it rests on
    'DataLoader(pin_memory=True) and .to(device, non_blocking=True)' AS advice, -- what to try
    format('zernel-analyze sql {} "FROM copies"', file_label(recording)) AS next_command -- to see more
FROM costs
ORDER BY lost_ms_per_step DESC, subject
LIMIT 20
