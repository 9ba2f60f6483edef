-- Communication is cut into many small collectives. Each costs a call and a round trip, whatever its size.
--
-- Compared is with as few collectives of the usual bucket's size as hold the same bytes. One more costs the CPU what
-- DDP takes to reduce a bucket, or else the call, and the GPUs a round trip, which is not known from here: 20 us are
-- assumed, and 50 us and the waits for all of them for the bound.
-- Does not apply to operations inside a group, which NCCL sends together, nor where the GPU hides all of it.
--
-- needs: _rare_events, step_work, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: zernel-analyze nccl lists the sizes
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps after the first
            4194304 AS small_bytes, -- [bytes] a collective below this is small
            26214400 AS bucket_bytes, -- [bytes] of DDP's usual bucket
            20 AS min_per_step, -- small collectives per step
            0.5 AS min_part, -- of all collectives
            20000 AS round_trip_ns, -- [ns] of one collective on the GPUs
            50000 AS max_round_trip_ns, -- [ns] the same, for the bound
            0.02 AS min_share -- what can be saved, as a share of step time
    ),
    calls AS (
        SELECT
            recording,
            pid,
            ts_ns,
            CASE WHEN kind = 'nccl' THEN bytes END AS bytes,
            CASE WHEN kind = 'nccl' THEN dur_ns END AS call_ns,
            CASE WHEN kind = 'region' THEN dur_ns END AS bucket_ns,
            CASE WHEN kind = 'dist_wait' THEN dur_ns END AS wait_ns
        FROM _rare_events
        WHERE (
                kind = 'nccl'
                AND coalesce(grouped, 0) = 0
                AND bytes IS NOT NULL
                AND name NOT IN ('ncclSend', 'ncclRecv')
            )
            OR (kind = 'region' AND name = 'c10d::Reducer::all_reduce_bucket')
            OR kind = 'dist_wait'
    ),
    counted AS (
        SELECT
            spans.recording,
            spans.pid,
            count(calls.bytes) AS collectives,
            count(CASE WHEN calls.bytes < thresholds.small_bytes THEN 1 END) AS small,
            sum(calls.bytes) AS bytes,
            greatest(coalesce(sum(calls.bucket_ns), 0), coalesce(sum(calls.call_ns), 0)) AS call_ns,
            coalesce(sum(calls.wait_ns), 0) AS wait_ns,
            quantile_cont(calls.bytes, 0.5) AS median_bytes
        FROM calls
        ASOF JOIN step_work AS spans
            ON spans.recording = calls.recording
            AND spans.pid = calls.pid
            AND spans.start_ns <= calls.ts_ns
        CROSS JOIN thresholds
        WHERE calls.ts_ns < spans.end_ns AND spans.step > 1
        GROUP BY spans.recording, spans.pid
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
            ceil(counted.bytes / work.steps / thresholds.bucket_bytes) AS enough,
            counted.median_bytes,
            work.all_ns / work.steps AS step_ns,
            counted.call_ns / work.steps AS call_ns,
            counted.wait_ns / work.steps AS wait_ns
        FROM counted
        JOIN work ON work.recording = counted.recording AND work.pid = counted.pid
        CROSS JOIN thresholds
        WHERE work.steps >= thresholds.min_steps
            AND counted.small >= thresholds.min_per_step * work.steps
            AND counted.small >= thresholds.min_part * counted.collectives
    ),
    estimates AS (
        SELECT
            costs.*,
            (collectives - enough) * (call_ns / collectives + thresholds.round_trip_ns) AS lost_ns,
            least(call_ns + wait_ns + collectives * thresholds.max_round_trip_ns, 0.9 * step_ns) AS bound_ns
        FROM costs
        CROSS JOIN thresholds
    )
SELECT
    thread_label(recording, pid, tid) AS subject, -- thread whose steps these are
    round(small, 1) AS value, -- small collectives per step
    'small collectives per step' AS unit, -- unit of value
    severity_of(lost_ns / step_ns) AS severity, -- high, medium or low
    round(lost_ns / 1e6, 3) AS lost_ms_per_step, -- [ms] of those that are too many
    round(step_ns / greatest(step_ns - bound_ns, 1), 2) AS max_speedup, -- bound when none costs anything
    format('mean of {} steps: {:.0f} of {:.0f} collectives are below 4 MiB, median {:.1f} KiB; {:.0f} would do; ',
        steps, small, collectives, median_bytes / 1024, enough)
        || format('the calls take {}, round trips {} (assumed); ',
            ms(call_ns), ms(collectives * thresholds.round_trip_ns))
        || bound_text(step_ns, bound_ns) AS evidence, -- what it rests on
    'send less often: larger buckets (bucket_cap_mb), larger FSDP units, or one flat tensor' AS advice, -- what to try
    format('zernel-analyze nccl {}', file_label(recording)) AS next_command -- to see more
FROM estimates
CROSS JOIN thresholds
WHERE lost_ns >= thresholds.min_share * step_ns
ORDER BY lost_ms_per_step DESC, subject
LIMIT 20
