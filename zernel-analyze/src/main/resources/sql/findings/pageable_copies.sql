-- Copies to the GPU come from pageable memory. Such a call copies through a buffer of the driver before it returns.
--
-- A call first waits for what its stream has to do, which is not lost; the copy itself is taken to run at the best rate
-- that the process reached. From pinned memory the call returns at once, and the copy is work of the GPU like its
-- kernels. So lost is the time of the copies, at most what the GPU is idle by the driver's samples less the time of the
-- same bytes from pinned memory; without samples it is the difference of the two. Without the waits the program could
-- be ahead of the GPU, which hides other stalls: the bound is what both take, at most the copies and what the GPU is
-- idle.
-- Does not apply where the host memory's kind is unknown, because it was allocated before recording began.
--
-- needs: _rare_events, step_work, _step_spans, gpu_busy
-- severity: high from 25 % of step time, medium from 10 %
-- hint: pin_memory alone does not help without non_blocking
-- lines: the copies WHERE kind = 'cuda_copy' AND thread = 'training'
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            0.02 AS min_share, -- what can be saved, as a share of step time
            65536 AS min_bytes, -- [bytes] smaller copies are buffered at once
            2.0 AS min_rate, -- [bytes/ns] a pageable copy is not slower
            20.0 AS pinned_rate -- [bytes/ns] from pinned memory over PCIe 4
    ),
    calls AS (
        SELECT recording, pid, tid AS caller, ts_ns AS at_ns, dur_ns, bytes
        FROM _rare_events
        CROSS JOIN thresholds
        WHERE pageable
            AND bytes >= thresholds.min_bytes
            AND dur_ns > 0
    ),
    rates AS (
        SELECT
            calls.recording,
            calls.pid,
            greatest(quantile_cont(calls.bytes / calls.dur_ns, 0.99), any_value(thresholds.min_rate)) AS rate
        FROM calls
        CROSS JOIN thresholds
        GROUP BY calls.recording, calls.pid
    ),
    copied AS (
        SELECT
            calls.recording,
            calls.pid,
            any_value(rates.rate) AS rate,
            count(*) AS copies,
            sum(least(calls.dur_ns, calls.bytes / rates.rate)) AS copy_ns,
            sum(calls.dur_ns) AS blocked_ns,
            sum(calls.bytes) AS bytes
        FROM in_spans(calls, _step_spans) AS calls
        JOIN rates ON rates.recording = calls.recording AND rates.pid = calls.pid
        WHERE calls.caller = calls.tid AND calls.trains
        GROUP BY ALL
    ),
    work AS (
        SELECT recording, pid, any_value(tid) AS tid, count(*) AS steps, avg(dur_ns) AS step_ns
        FROM step_work
        WHERE step_kind = 'train'
        GROUP BY recording, pid
    ),
    costs AS (
        SELECT
            work.recording,
            work.pid,
            work.tid,
            work.steps,
            work.step_ns,
            copied.rate,
            copied.copies / work.steps AS copies,
            copied.bytes / work.steps AS bytes,
            copied.copy_ns / work.steps AS copy_ns,
            copied.bytes / work.steps / thresholds.pinned_rate AS pinned_ns,
            copied.blocked_ns / work.steps AS blocked_ns,
            least(
                coalesce(busy.idle_ns, copied.copy_ns / work.steps)
                    - copied.bytes / work.steps / thresholds.pinned_rate,
                copied.copy_ns / work.steps
            ) AS lost_ns,
            least(
                copied.blocked_ns / work.steps,
                busy.most_idle_ns + copied.copy_ns / work.steps
            ) AS bound_ns
        FROM copied
        JOIN work ON work.recording = copied.recording AND work.pid = copied.pid
        LEFT JOIN gpu_busy AS busy ON busy.recording = work.recording AND busy.pid = work.pid
        CROSS JOIN thresholds
        WHERE work.steps >= thresholds.min_steps
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that copies
    round(bytes / 1e6, 1) AS value, -- megabytes per step
    'MB per step' AS unit, -- unit of value
    step_ns, -- [ns] step
    lost_ns, -- [ns] beyond what pinned memory would take
    bound_ns, -- [ns] saved at most, when they cost nothing
    format('mean of {} steps: {:.1f} copies from pageable memory, {}, block for {}; ',
        steps, copies, size(bytes), ms(blocked_ns))
        || format('at {:.1f} GB/s they take {} of it, from pinned memory {}; ', rate, ms(copy_ns), ms(pinned_ns))
        AS evidence, -- what it rests on
    'DataLoader(pin_memory=True) and .to(device, non_blocking=True)' AS advice, -- what to try
    'zernel-analyze sql {} "FROM copies"' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE lost_ns >= thresholds.min_share * step_ns
