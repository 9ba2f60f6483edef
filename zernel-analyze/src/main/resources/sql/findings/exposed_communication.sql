-- Training waits for communication. The thread is blocked on other ranks, with no computation left to hide it.
--
-- Lost is the time in waits of torch.distributed, and in waits for the GPU that began when it had nothing but
-- collectives to do. Other waits after a collective may be for the computation before it: they are in the
-- bound only. Of several ranks the one that waits least counts, because the others also wait for late ranks
-- (nccl_straggler). Communication that stalls only the GPU is not seen on the CPU, so there may be more.
-- Does not apply to processes that never call NCCL or torch.distributed.
--
-- needs: _rare_events, _syncs, steps, _step_counts, files
-- severity: high from 25 % of step time, medium from 10 %, low where only a bound is known
-- hint: the view collectives lists what is sent
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps after the first
            0.05 AS min_share, -- what can be saved, as a share of step time
            0.1 AS min_bound -- the bound, as a share of step time, where no more is known
    ),
    trained AS (
        SELECT
            steps.recording,
            steps.pid,
            steps.tid,
            count(*) AS steps,
            min(steps.start_ns) AS start_ns,
            max(steps.end_ns) AS end_ns,
            avg(steps.dur_ns) AS step_ns,
            avg(steps.nccl_collective_ns) AS wait_ns
        FROM steps
        JOIN _step_counts AS counts
            ON counts.recording = steps.recording
            AND counts.pid = steps.pid
            AND counts.tid = steps.tid
        WHERE steps.step > 1
        GROUP BY ALL
    ),
    calls AS (
        SELECT recording, pid, ts_ns AS start_ns, dur_ns
        FROM _rare_events
        WHERE kind = 'dist_wait' AND dur_ns > 0
        UNION ALL
        SELECT recording, pid, start_ns, dur_ns
        FROM _syncs
        WHERE waits_for = 'collective' AND only_collectives
    ),
    waits AS (
        SELECT
            trained.recording,
            trained.pid,
            trained.tid,
            any_value(trained.steps) AS steps,
            any_value(trained.step_ns) AS step_ns,
            coalesce(sum(calls.dur_ns), 0) / any_value(trained.steps) AS lost_ns,
            greatest(any_value(trained.wait_ns), coalesce(sum(calls.dur_ns), 0) / any_value(trained.steps)) AS bound_ns
        FROM trained
        LEFT JOIN calls
            ON calls.recording = trained.recording
            AND calls.pid = trained.pid
            AND calls.start_ns >= trained.start_ns
            AND calls.start_ns < trained.end_ns
        GROUP BY trained.recording, trained.pid, trained.tid
    ),
    least_waiting AS (
        SELECT
            waits.*,
            row_number() OVER (ORDER BY lost_ns, recording, pid) AS place,
            count(*) OVER () AS ranks
        FROM waits
    )
SELECT
    thread_label(recording, pid, tid) AS subject, -- thread that waits
    round(100 * bound_ns / step_ns, 1) AS value, -- share of step time
    '% of step time' AS unit, -- unit of value
    CASE WHEN lost_ns >= min_share * step_ns THEN severity_of(lost_ns / step_ns) ELSE 'low' END
        AS severity, -- high, medium or low
    CASE WHEN lost_ns >= min_share * step_ns THEN round(lost_ns / 1e6, 3) END
        AS lost_ms_per_step, -- [ms] blocked on communication; NULL where only the bound is known
    round(step_ns / greatest(step_ns - bound_ns, 1), 2) AS max_speedup, -- bound when all of it is hidden
    format('mean of {} steps: {} of {} blocked on other ranks, {} of it with nothing else to do for the GPU; ',
        steps, ms(bound_ns), ms(step_ns), ms(lost_ns))
        || CASE WHEN ranks > 1 THEN format('the least of {} ranks; ', ranks) ELSE '' END
        || bound_text(step_ns, bound_ns) AS evidence, -- what it rests on
    'overlap it: DDP buckets (bucket_cap_mb), FSDP prefetch, no_sync() while accumulating; or send less (bf16)'
        AS advice, -- what to try
    format('zernel-analyze nccl {}', file_label(recording)) AS next_command -- to see more
FROM least_waiting
CROSS JOIN thresholds
WHERE place = 1
    AND steps >= thresholds.min_steps
    AND (lost_ns >= thresholds.min_share * step_ns OR bound_ns >= thresholds.min_bound * step_ns)
ORDER BY lost_ms_per_step DESC, subject
LIMIT 20
