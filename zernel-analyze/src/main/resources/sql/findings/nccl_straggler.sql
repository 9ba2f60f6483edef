-- One rank comes late to collectives. All other ranks wait for it in every step.
--
-- Of each step of the late rank, the collective with the largest delay between the first and the last call counts.
-- Named is what this rank spends more time on than the mean of the others.
-- Does not apply where ranks take turns in being late, nor to ranks on several hosts, whose clocks differ. A rank that
-- is late on the GPU only, such as one with a slower GPU, is not seen in time of the CPU.
--
-- needs: collective_arrivals, step_work, steps, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: zernel-analyze nccl --ranks shows how often each rank came last
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps after the first with collectives
            0.8 AS min_share, -- steps in which the rank was the last
            0.05 AS min_lost -- delay per step, as a share of step time
    ),
    late AS (
        SELECT
            arrivals.comm_id,
            spans.step,
            spans.dur_ns AS step_ns,
            arrivals.nranks,
            arrivals.late_rank,
            arrivals.late_recording AS recording,
            arrivals.late_pid AS pid,
            spans.tid,
            arrivals.skew_ns
        FROM (
            SELECT comm_id, nranks, late_rank, late_recording, late_pid, skew_ns, late_ns AS last_ns
            FROM collective_arrivals
            WHERE nranks > 1 AND ranks = nranks AND late_rank IS NOT NULL
        ) AS arrivals
        ASOF JOIN step_work AS spans
            ON spans.recording = arrivals.late_recording
            AND spans.pid = arrivals.late_pid
            AND spans.start_ns <= arrivals.last_ns
        WHERE arrivals.last_ns < spans.end_ns AND spans.step > 1
    ),
    worst AS (
        SELECT
            comm_id,
            step,
            max(skew_ns) AS skew_ns,
            arg_max(late_rank, skew_ns) AS late_rank,
            arg_max(recording, skew_ns) AS recording,
            arg_max(pid, skew_ns) AS pid,
            arg_max(tid, skew_ns) AS tid,
            arg_max(step_ns, skew_ns) AS step_ns,
            max(nranks) AS nranks
        FROM late
        GROUP BY ALL
    ),
    communicators AS (
        SELECT comm_id, count(*) AS steps, avg(step_ns) AS step_ns
        FROM worst
        GROUP BY ALL
    ),
    stragglers AS (
        SELECT
            worst.comm_id,
            worst.late_rank,
            any_value(worst.nranks) AS nranks,
            any_value(worst.recording) AS recording,
            any_value(worst.pid) AS pid,
            any_value(worst.tid) AS tid,
            count(*) AS times_last,
            sum(worst.skew_ns) / any_value(communicators.steps) AS lost_ns,
            quantile_cont(worst.skew_ns, 0.5) AS skew_ns,
            any_value(communicators.steps) AS steps,
            any_value(communicators.step_ns) AS step_ns
        FROM worst
        JOIN communicators ON communicators.comm_id = worst.comm_id
        GROUP BY worst.comm_id, worst.late_rank
    ),
    parts AS (
        SELECT
            recording,
            pid,
            tid,
            avg(data_loading_ns) AS data_loading_ns,
            avg(gpu_compute_ns + optimizer_step_ns) AS compute_ns,
            avg(unknown_ns) AS unknown_ns
        FROM steps
        WHERE step > 1
        GROUP BY recording, pid, tid
    ),
    excess AS (
        SELECT
            own.recording,
            own.pid,
            own.tid,
            any_value(own.data_loading_ns) - avg(others.data_loading_ns) AS data_loading_ns,
            any_value(own.compute_ns) - avg(others.compute_ns) AS compute_ns,
            any_value(own.unknown_ns) - avg(others.unknown_ns) AS unknown_ns
        FROM parts AS own
        JOIN parts AS others ON others.pid <> own.pid OR others.recording <> own.recording
        GROUP BY own.recording, own.pid, own.tid
    ),
    explained AS (
        SELECT
            stragglers.*,
            CASE
                WHEN excess.data_loading_ns >= greatest(excess.compute_ns, excess.unknown_ns, 0.3 * lost_ns) THEN 'data'
                WHEN excess.compute_ns >= greatest(excess.unknown_ns, 0.3 * lost_ns) THEN 'compute'
                WHEN excess.unknown_ns >= 0.3 * lost_ns THEN 'unknown'
                ELSE 'none'
            END AS cause,
            greatest(excess.data_loading_ns, excess.compute_ns, excess.unknown_ns) AS cause_ns
        FROM stragglers
        LEFT JOIN excess
            ON excess.recording = stragglers.recording
            AND excess.pid = stragglers.pid
            AND excess.tid = stragglers.tid
        CROSS JOIN thresholds
        WHERE steps >= thresholds.min_steps
            AND times_last >= thresholds.min_share * steps
            AND lost_ns >= thresholds.min_lost * step_ns
    )
SELECT
    format('rank {} of {}, ', late_rank, nranks) || thread_label(recording, pid, tid) AS subject, -- the late rank
    round(skew_ns / 1e6, 1) AS value, -- median delay of its worst collective in a step
    'ms late' AS unit, -- unit of value
    severity_of(lost_ns / step_ns) AS severity, -- high, medium or low
    round(lost_ns / 1e6, 3) AS lost_ms_per_step, -- [ms] that the first rank waits for it
    round(step_ns / greatest(step_ns - lost_ns, 1), 2) AS max_speedup, -- bound when it comes with the others
    format('last in {} of {} steps, {} after the first rank (median); ', times_last, steps, ms(skew_ns))
        || CASE cause
            WHEN 'data' THEN format('it waits {} longer for data than the others; ', ms(cause_ns))
            WHEN 'compute' THEN format('its forward, backward and optimizer take {} longer; ', ms(cause_ns))
            WHEN 'unknown' THEN format('{} more of its time lies outside every recorded call; ', ms(cause_ns))
            ELSE 'no phase of it is longer than those of the others; '
        END
        || bound_text(step_ns, lost_ns) AS evidence, -- what it rests on
    CASE cause
        WHEN 'data' THEN 'look at the input of this rank: its shard, its storage, its workers'
        WHEN 'compute' THEN 'look at what this rank computes more: longer sequences, uneven shards, a slower CPU'
        WHEN 'unknown' THEN 'look at what only this rank does: logging, checkpoints, evaluation'
        ELSE 'compare its CPUs with those of the others: load, affinity, clocks'
    END AS advice, -- what to try
    format('zernel-analyze nccl --ranks {}', file_label(recording)) AS next_command -- to see more
FROM explained
ORDER BY lost_ms_per_step DESC, subject
LIMIT 20
