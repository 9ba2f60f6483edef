-- How many backward passes of DDP exchange gradients before each step of the optimizer.
--
-- A pass exchanges them where DDP's reducer finishes in it, which under `no_sync()` it does not. With several models or
-- optimizers, passes with no step of an optimizer between them count as of one step.
--
-- needs: _rare_events, _trained
-- digest: kept
CREATE TABLE _gradient_exchanges AS
WITH
    calls AS (
        SELECT
            calls.recording,
            calls.pid,
            calls.ts_ns,
            calls.dur_ns,
            CASE
                WHEN calls.kind = 'backward' THEN 'pass'
                WHEN calls.kind = 'dist_wait' THEN 'exchange'
                WHEN calls.name = 'c10d::Reducer::all_reduce_bucket' THEN 'bucket'
                ELSE 'optimizer'
            END AS what
        FROM _rare_events AS calls
        JOIN _trained AS trained ON trained.recording = calls.recording AND trained.pid = calls.pid
        WHERE calls.ts_ns >= trained.start_ns
            AND calls.ts_ns < trained.end_ns
            AND (
                calls.kind = 'backward'
                OR calls.kind = 'dist_wait' AND calls.name = 'Reducer::finalize_backward'
                OR calls.kind = 'region' AND calls.name = 'c10d::Reducer::all_reduce_bucket'
                OR calls.kind = 'region' AND calls.name LIKE 'Optimizer.step#%'
            )
    ),
    passes AS (
        SELECT DISTINCT passes.recording, passes.pid, passes.ts_ns
        FROM (SELECT recording, pid, ts_ns FROM calls WHERE what = 'exchange') AS exchanges
        ASOF JOIN (SELECT recording, pid, ts_ns, dur_ns FROM calls WHERE what = 'pass') AS passes
            ON passes.recording = exchanges.recording
            AND passes.pid = exchanges.pid
            AND passes.ts_ns <= exchanges.ts_ns
        WHERE exchanges.ts_ns <= passes.ts_ns + passes.dur_ns
    ),
    moments AS (
        SELECT recording, pid, ts_ns, TRUE AS exchanges
        FROM passes
        UNION ALL
        SELECT recording, pid, ts_ns, FALSE
        FROM calls
        WHERE what = 'optimizer'
    ),
    ordered AS (
        SELECT
            recording,
            pid,
            exchanges,
            lag(exchanges, 1, FALSE) OVER (PARTITION BY recording, pid ORDER BY ts_ns) AS again
        FROM moments
    ),
    buckets AS (
        SELECT recording, pid, sum(dur_ns) AS ns
        FROM calls
        WHERE what = 'bucket'
        GROUP BY recording, pid
    )
SELECT
    ordered.recording, -- recording
    ordered.pid, -- process
    count(CASE WHEN exchanges THEN 1 END) AS passes, -- backward passes that exchange gradients, without warm-up
    count(CASE WHEN exchanges AND NOT again THEN 1 END) AS rounds, -- of them, those with a step before, not a pass
    CAST(coalesce(any_value(buckets.ns), 0) AS BIGINT) AS bucket_ns -- [ns] in calls that hand buckets over
FROM ordered
LEFT JOIN buckets ON buckets.recording = ordered.recording AND buckets.pid = ordered.pid
GROUP BY ordered.recording, ordered.pid
HAVING count(CASE WHEN exchanges THEN 1 END) > 0;

-- Training waits for communication. The thread is blocked on other ranks, with no computation left to hide it.
--
-- Lost is the time in waits for the GPU that began when it had nothing but collectives to do, and in waits of
-- torch.distributed without NCCL, less what many small collectives cost (small_collectives). Of several ranks of a job
-- the one that waits least counts, because the others also wait for late ranks (nccl_straggler); without NCCL, the
-- least that one of them waits in each step. With a profiler's trace, lost is what the GPU communicates without
-- computing meanwhile, also where the program does not wait for it.
-- Where several backward passes before a step of the optimizer exchange gradients, all but the last can do without
-- (no_sync), and on CPUs lost is at least what that saves: their part of these waits and of the calls that hand buckets
-- over. What they wait for late ranks is part of the bound, too.
-- Does not apply where, without a trace, computation was enqueued too: how much of such a wait is for communication
-- only the GPU knows. The view unknowns has the bounds.
--
-- needs: _communication, _small_collectives, _gradient_exchanges, _rank_jobs, gpu_busy, phase_words, network_usage
-- needs: files, _object_exchanges
-- severity: high from 25 % of step time, medium from 10 %
-- hint: the view collectives lists what is sent
-- lines: the waits for ranks WHERE thread = 'training' AND step_kind = 'train' AND 'collective' IN (part, state)
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps, without warm-up
            2 AS min_traced_steps, -- the same where a trace tells
            0.05 AS min_share, -- what can be saved, as a share of step time
            0.5 AS min_objects, -- share of the waits, from which on they are for objects that are exchanged
            1.5 AS accumulated, -- backward passes that exchange gradients for a step of the optimizer
            1000000 AS min_link_bytes -- [bytes] per second from which on a link of the host is worth a word
    ),
    costs AS (
        SELECT
            waits.recording,
            waits.pid,
            waits.tid,
            waits.steps,
            waits.step_ns,
            waits.on_cpu,
            coalesce(jobs.job, '') AS job,
            words.on_gpu,
            links.link_text,
            gpu.exposed_communication_ns IS NOT NULL AS traced,
            waits.late_ns,
            CASE WHEN waits.on_cpu THEN exchanges.bucket_ns / waits.steps ELSE 0 END AS bucket_ns,
            exchanges.passes / exchanges.rounds AS passes,
            greatest(waits.exposed_ns, coalesce(gpu.exposed_communication_ns, waits.phase_ns)) AS blocked_ns,
            greatest(
                greatest(waits.exposed_ns, gpu.exposed_communication_ns) - coalesce(small.lost_ns, 0),
                0
            ) AS lost_ns
        FROM _communication AS waits
        LEFT JOIN _rank_jobs AS jobs ON jobs.recording = waits.recording AND jobs.pid = waits.pid
        LEFT JOIN gpu_busy AS gpu ON gpu.recording = waits.recording AND gpu.pid = waits.pid
        LEFT JOIN _small_collectives AS small
            ON small.recording = waits.recording
            AND small.pid = waits.pid
            AND small.alone
        LEFT JOIN _gradient_exchanges AS exchanges
            ON exchanges.recording = waits.recording
            AND exchanges.pid = waits.pid
            AND exchanges.rounds >= (SELECT min_steps FROM thresholds)
            AND exchanges.passes >= (SELECT accumulated FROM thresholds) * exchanges.rounds
        LEFT JOIN (SELECT DISTINCT recording, pid, on_gpu FROM phase_words) AS words
            ON words.recording = waits.recording
            AND words.pid = waits.pid
        LEFT JOIN network_usage AS links
            ON links.recording = waits.recording
            AND links.pid = waits.pid
            AND links.place = 1
            AND greatest(links.rx_bytes_per_s, links.tx_bytes_per_s) >= (SELECT min_link_bytes FROM thresholds)
        -- Processes that do not communicate are no ranks.
        WHERE greatest(waits.phase_ns, waits.late_ns, waits.exposed_ns, gpu.exposed_communication_ns) > 0
    ),
    -- What all but the last of several backward passes spend on it.
    repeated AS (
        SELECT
            recording,
            pid,
            tid,
            steps,
            step_ns,
            on_cpu,
            job,
            on_gpu,
            link_text,
            traced,
            passes,
            blocked_ns,
            (1 - 1 / passes) * (lost_ns + bucket_ns) AS saved_ns,
            blocked_ns + coalesce((1 - 1 / passes) * (bucket_ns + CASE WHEN on_cpu THEN late_ns ELSE 0 END), 0)
                AS bound_ns,
            greatest(lost_ns, saved_ns) AS lost_ns
        FROM costs
    ),
    least_waiting AS (
        SELECT
            repeated.*,
            row_number() OVER (PARTITION BY job ORDER BY traced DESC, lost_ns, recording, pid) AS place,
            count(*) OVER (PARTITION BY job, traced) AS ranks,
            (SELECT count(DISTINCT job) FROM costs) AS jobs
        FROM repeated
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that waits
    CASE
        WHEN ranks > 1 AND jobs > 1 THEN format('{} and {} more', thread_label(recording, pid, tid), ranks - 1)
        WHEN ranks > 1 THEN format('{} ranks', ranks)
    END AS subject, -- all ranks, where there are several; of several jobs, with the one that waits least
    lost_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    lost_ns, -- [ns] of nothing but communication
    bound_ns, -- [ns] saved at most, when all of it is hidden
    saved_ns AS advice_saves_ns, -- [ns] of it that no_sync() saves; NULL where one backward pass exchanges gradients
    format('mean of {} steps: {} of {} ', steps, ms(blocked_ns), ms(step_ns))
        || CASE
            WHEN traced THEN 'in which the GPU communicates and computes nothing, by its trace; '
            WHEN on_cpu AND ranks > 1 THEN 'blocked in torch.distributed, not for a rank that is late; '
            WHEN on_cpu THEN 'blocked in torch.distributed; '
            WHEN on_gpu IS NOT DISTINCT FROM FALSE
                THEN format('blocked on other ranks, {} of it with nothing else to do; ', ms(lost_ns))
            ELSE format('blocked on other ranks, {} of it with nothing else to do for the GPU; ', ms(lost_ns))
        END
        || CASE WHEN ranks > 1 THEN format('the least of {} ranks; ', ranks) ELSE '' END
        || CASE
            WHEN passes IS NOT NULL
                THEN format('{:.0f} backward passes for each step of the optimizer, and all exchange gradients: {:.0f} '
                    || 'need not, which saves {} of these waits{}; ',
                    passes, passes - 1, ms(saved_ns),
                    CASE WHEN on_cpu THEN ' and of the calls that hand buckets over' ELSE '' END)
            ELSE ''
        END
        || coalesce(link_text || '; ', '') AS evidence, -- what it rests on
    CASE
        WHEN passes IS NOT NULL
            THEN format('no_sync() around all but the last of the {} backward passes of a step; overlap the rest: DDP '
                || 'buckets (bucket_cap_mb); or send less (bf16)', CAST(round(passes) AS INTEGER))
        WHEN objects.wait_share >= min_objects
            THEN format('exchange objects once or rarely, and few of them; numbers as tensors in place of {}',
                objects.function)
        ELSE 'overlap it: DDP buckets (bucket_cap_mb), FSDP prefetch, no_sync() while accumulating; or send less (bf16)'
    END AS advice, -- what to try
    'zernel-analyze nccl {}' AS next_command -- to see more
FROM least_waiting
CROSS JOIN thresholds
LEFT JOIN _object_exchanges AS objects USING (recording, pid)
WHERE place = 1
    AND steps >= CASE
        WHEN traced OR recording IN (SELECT recording FROM files WHERE state = 'trace') THEN min_traced_steps
        ELSE min_steps
    END
    AND lost_ns >= min_share * step_ns
