-- Training waits for communication. The thread is blocked on other ranks, with no computation left to hide it.
--
-- Lost is the time in waits for the GPU that began when it had nothing but collectives to do, and in waits of
-- torch.distributed without NCCL, less what many small collectives cost (small_collectives). Of several ranks of a job
-- the one that waits least counts, because the others also wait for late ranks (nccl_straggler); without NCCL, the
-- least that one of them waits in each step. With a profiler's trace, lost is what the GPU communicates without
-- computing meanwhile, also where the program does not wait for it.
-- Does not apply where, without a trace, computation was enqueued too: how much of such a wait is for communication
-- only the GPU knows. The view unknowns has the bounds.
--
-- needs: _communication, _small_collectives, _rank_jobs, gpu_busy, phase_words, network_usage, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: the view collectives lists what is sent
-- lines: the waits for ranks WHERE thread = 'training' AND step_kind = 'train' AND 'collective' IN (part, state)
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps, without warm-up
            2 AS min_traced_steps, -- the same where a trace tells
            0.05 AS min_share, -- what can be saved, as a share of step time
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
            greatest(waits.exposed_ns, coalesce(gpu.exposed_communication_ns, waits.phase_ns)) AS bound_ns,
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
    least_waiting AS (
        SELECT
            costs.*,
            row_number() OVER (PARTITION BY job ORDER BY traced DESC, lost_ns, recording, pid) AS place,
            count(*) OVER (PARTITION BY job, traced) AS ranks,
            (SELECT count(DISTINCT job) FROM costs) AS jobs
        FROM costs
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
    format('mean of {} steps: {} of {} ', steps, ms(bound_ns), ms(step_ns))
        || CASE
            WHEN traced THEN 'in which the GPU communicates and computes nothing, by its trace; '
            WHEN on_cpu AND ranks > 1 THEN 'blocked in torch.distributed, not for a rank that is late; '
            WHEN on_cpu THEN 'blocked in torch.distributed; '
            WHEN on_gpu IS NOT DISTINCT FROM FALSE
                THEN format('blocked on other ranks, {} of it with nothing else to do; ', ms(lost_ns))
            ELSE format('blocked on other ranks, {} of it with nothing else to do for the GPU; ', ms(lost_ns))
        END
        || CASE WHEN ranks > 1 THEN format('the least of {} ranks; ', ranks) ELSE '' END
        || coalesce(link_text || '; ', '') AS evidence, -- what it rests on
    'overlap it: DDP buckets (bucket_cap_mb), FSDP prefetch, no_sync() while accumulating; or send less (bf16)'
        AS advice, -- what to try
    'zernel-analyze nccl {}' AS next_command -- to see more
FROM least_waiting
CROSS JOIN thresholds
WHERE place = 1
    AND steps >= CASE WHEN traced THEN min_traced_steps ELSE min_steps END
    AND lost_ns >= min_share * step_ns
