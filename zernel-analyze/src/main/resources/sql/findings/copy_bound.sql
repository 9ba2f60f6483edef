-- The GPU copies while it computes nothing. Neither a kernel nor a collective runs meanwhile.
--
-- Typical are weights that are kept on the host and fetched for each layer, tables and masks that each step sends
-- again, and copies inside the GPU (`clone`, `contiguous`, `cat`). Lost is the time in which the GPU only copies or
-- fills, by a trace, or by CUPTI. All of it can be saved only where data stays where it is used: behind kernels no more
-- can be hidden than these take, which the evidence says. Copies take longer from pageable memory; at which rate they
-- ran is told, not whether the link could do more.
-- Does not apply without a trace, to copies to pageable memory of the host, for which the program waits (sync_bound),
-- nor where pageable_copies tells of the same time.
--
-- needs: events, _gpu_spans, _step_spans, gpu_traces
-- severity: high from 25 % of step time, medium from 10 %
-- hint: the view copies lists directions; zernel-analyze gpu lists what ran
-- lines: the copies WHERE kind = 'cuda_copy' AND thread = 'training'
WITH
    thresholds AS (
        SELECT
            2 AS min_steps, -- steps of kind train
            5 AS min_pageable_steps, -- the same, from which on pageable_copies tells
            0.1 AS min_share, -- of step time
            0.5 AS most -- share of the copies that are of one sort
    ),
    trained AS (
        SELECT recording, pid, any_value(tid) AS tid, count(*) AS steps, avg(until_ns - from_ns) AS step_ns
        FROM _step_spans
        WHERE trains
        GROUP BY recording, pid
    ),
    spans AS (
        SELECT recording, pid, device, start_ns AS at_ns, dur_ns, compute OR communication AS busy, copy, feeding
        FROM _gpu_spans
        WHERE copy OR compute OR communication
    ),
    used AS (
        SELECT
            recording,
            pid,
            device,
            coalesce(sum(dur_ns) FILTER (busy), 0) AS busy_ns,
            coalesce(sum(dur_ns) FILTER (feeding AND NOT busy), 0) AS feeding_ns,
            coalesce(sum(dur_ns) FILTER (copy AND NOT feeding AND NOT busy), 0) AS returning_ns
        FROM in_spans(spans, _step_spans)
        WHERE trains
        GROUP BY recording, pid, device
    ),
    moves AS (
        SELECT recording, pid, device, copy_kind, host_memory, ts_ns AS at_ns, dur_ns, bytes
        FROM events
        WHERE (kind IN ('gpu_memcpy', 'gpu_memset')) IS TRUE
            AND recording IN (SELECT recording FROM gpu_traces)
    ),
    sorts AS (
        SELECT
            recording,
            pid,
            device,
            coalesce(copy_kind, 'unknown') AS copy_kind,
            host_memory,
            count(*) AS copies,
            sum(bytes) AS bytes,
            sum(dur_ns) AS copy_ns
        FROM in_spans(moves, _step_spans)
        WHERE trains
        GROUP BY ALL
    ),
    directions AS (
        SELECT
            recording,
            pid,
            device,
            arg_max(copy_kind, copy_ns) AS copy_kind,
            arg_max(host_memory, copy_ns) AS host_memory,
            sum(copy_ns) AS copy_ns,
            coalesce(sum(copy_ns) FILTER (copy_kind = 'HtoD' AND host_memory = 'pageable'), 0) AS pageable_ns,
            coalesce(sum(copy_ns) FILTER (copy_kind = 'DtoH' AND host_memory = 'pageable'), 0) AS awaited_ns,
            coalesce(sum(copy_ns) FILTER (copy_kind = 'DtoH'), 0) AS to_host_ns
        FROM sorts
        GROUP BY recording, pid, device
    ),
    costs AS (
        SELECT
            directions.*,
            trained.tid,
            trained.steps,
            trained.step_ns,
            used.busy_ns / trained.steps AS busy_ns,
            least(
                (used.feeding_ns + CASE
                    WHEN directions.awaited_ns >= thresholds.most * directions.to_host_ns THEN 0
                    ELSE used.returning_ns
                END) / trained.steps,
                trained.step_ns
            ) AS lost_ns
        FROM used
        JOIN trained USING (recording, pid)
        JOIN directions USING (recording, pid, device)
        CROSS JOIN thresholds
        WHERE trained.steps >= thresholds.min_steps
            AND NOT (
                trained.steps >= thresholds.min_pageable_steps
                AND directions.pageable_ns >= thresholds.most * directions.copy_ns
            )
        -- Of several GPUs of a process the one that copies most.
        QUALIFY row_number() OVER (PARTITION BY recording, pid ORDER BY lost_ns DESC, device) = 1
    ),
    texts AS (
        SELECT
            sorts.recording,
            sorts.pid,
            sorts.device,
            string_agg(
                format('{:.1f} {}{}{} that take {}',
                    sorts.copies / costs.steps,
                    sorts.copy_kind,
                    coalesce(CASE sorts.copy_kind WHEN 'HtoD' THEN ' from ' WHEN 'DtoH' THEN ' to ' END
                        || sorts.host_memory || ' memory', ''),
                    coalesce(format(' of {} in all, at {:.1f} GB/s,', size(sorts.bytes / costs.steps),
                        sorts.bytes / nullif(sorts.copy_ns, 0)), ''),
                    us_or_ms(sorts.copy_ns / costs.steps)),
                ', '
                ORDER BY sorts.copy_ns DESC
            ) AS sorts
        FROM sorts
        JOIN costs
            ON costs.recording = sorts.recording
            AND costs.pid = sorts.pid
            AND costs.device = sorts.device
        WHERE sorts.copy_ns >= 0.05 * costs.copy_ns
        GROUP BY sorts.recording, sorts.pid, sorts.device
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    device, -- GPU
    lost_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    lost_ns, -- [ns] in which the GPU only copies
    lost_ns AS bound_ns, -- [ns] saved at most, when it need not
    format('mean of {} steps: GPU {} only copies for {} of {}; copies of a step: {}; ',
        steps, device, us_or_ms(lost_ns), us_or_ms(step_ns), texts.sorts)
        || format('behind kernels at most {} of it can be hidden, as long as these run; ',
            us_or_ms(least(busy_ns, lost_ns))) AS evidence, -- what it rests on
    CASE
        WHEN copy_kind = 'DtoD'
            THEN 'copy less inside the GPU: no clone(), contiguous() or cat() of what can be written in place or viewed'
        WHEN copy_kind = 'memset' THEN 'fill less: empty() for what is written anyway, zero_grad(set_to_none=True)'
        WHEN copy_kind = 'DtoH'
            THEN 'keep on the GPU what is used there again, and send results smaller or less often'
        WHEN copy_kind = 'PtoP' THEN 'keep data on the GPU that uses it'
        WHEN host_memory = 'pageable'
            THEN 'pin_memory=True and non_blocking=True; keep on the GPU what is used again; send less (bf16, uint8)'
        ELSE 'keep on the GPU what is used again, as weights and masks; send less (bf16, uint8); what has to be sent, '
            || 'earlier: non_blocking=True on a stream of its own'
    END AS advice, -- what to try
    'zernel-analyze gpu {}' AS next_command -- to see more
FROM costs
JOIN texts USING (recording, pid, device)
CROSS JOIN thresholds
WHERE lost_ns >= thresholds.min_share * step_ns
