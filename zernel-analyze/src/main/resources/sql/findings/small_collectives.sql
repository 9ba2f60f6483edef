-- Communication is cut into many small collectives. Each costs a launch and a round trip, whatever its size.
--
-- Lost is the time to enqueue them on the CPU, which is a lower bound: the round trips on the GPU are not known from
-- here, and cost more. The bound is for one collective in place of all.
-- Does not apply to operations inside a group, which NCCL sends together.
--
-- needs: _rare_events, step_work, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: zernel-analyze nccl lists the sizes
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps after the first
            65536 AS small_bytes, -- a collective below this is small
            20 AS min_per_step, -- small collectives per step
            0.5 AS min_part, -- of all collectives
            0.02 AS min_share -- time to enqueue them, as a share of step time
    ),
    calls AS (
        SELECT recording, pid, ts_ns, dur_ns, bytes, bytes < thresholds.small_bytes AS small
        FROM _rare_events
        CROSS JOIN thresholds
        WHERE kind = 'nccl'
            AND coalesce(grouped, 0) = 0
            AND bytes IS NOT NULL
            AND name NOT IN ('ncclSend', 'ncclRecv')
    ),
    counted AS (
        SELECT
            spans.recording,
            spans.pid,
            count(*) AS collectives,
            count(CASE WHEN calls.small THEN 1 END) AS small,
            sum(CASE WHEN calls.small THEN calls.dur_ns END) AS small_ns,
            quantile_cont(CASE WHEN calls.small THEN calls.bytes END, 0.5) AS median_bytes
        FROM calls
        ASOF JOIN step_work AS spans
            ON spans.recording = calls.recording
            AND spans.pid = calls.pid
            AND spans.start_ns <= calls.ts_ns
        WHERE calls.ts_ns < spans.end_ns AND spans.step > 1
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
            counted.small / work.steps AS small,
            counted.collectives / work.steps AS collectives,
            counted.median_bytes,
            work.all_ns / work.steps AS step_ns,
            counted.small_ns * (1 - work.steps / counted.small) / work.steps AS lost_ns
        FROM counted
        JOIN work ON work.recording = counted.recording AND work.pid = counted.pid
        CROSS JOIN thresholds
        WHERE work.steps >= thresholds.min_steps
            AND counted.small >= thresholds.min_per_step * work.steps
            AND counted.small >= thresholds.min_part * counted.collectives
            AND counted.small_ns >= thresholds.min_share * work.all_ns
    )
SELECT
    thread_label(recording, pid, tid) AS subject, -- thread whose steps these are
    round(small, 1) AS value, -- small collectives per step
    'small collectives per step' AS unit, -- unit of value
    severity_of(lost_ns / step_ns) AS severity, -- high, medium or low
    round(lost_ns / 1e6, 3) AS lost_ms_per_step, -- [ms] to enqueue all but one
    round(step_ns / greatest(step_ns - lost_ns, 1), 2) AS max_speedup, -- bound on the CPU when there is one
    format('mean of {} steps: {:.0f} of {:.0f} collectives are below 64 KiB, median {:.1f} KiB; enqueueing takes {}; ',
        steps, small, collectives, median_bytes / 1024, ms(lost_ns))
        || bound_text(step_ns, lost_ns) AS evidence, -- what it rests on
    'send less often: larger buckets (bucket_cap_mb), larger FSDP units, or one flat tensor' AS advice, -- what to try
    format('zernel-analyze nccl {}', file_label(recording)) AS next_command -- to see more
FROM costs
ORDER BY lost_ms_per_step DESC, subject
LIMIT 20
