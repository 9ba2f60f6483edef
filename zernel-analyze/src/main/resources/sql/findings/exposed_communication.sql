-- Training waits for communication. The thread is blocked on other ranks, with no computation left to hide it.
--
-- Counted is the phase NcclCollective: NCCL calls, waits of torch.distributed, waits for the GPU after a collective.
-- Communication that stalls only the GPU does not show up on the CPU, so there may be more. Part of the wait may be a
-- rank that comes late: compare with the finding nccl_straggler.
-- Does not apply to processes that never call NCCL or torch.distributed.
--
-- needs: steps, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: the view collectives lists what is sent
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps after the first
            0.1 AS min_share -- share of step time
    ),
    waits AS (
        SELECT
            recording,
            pid,
            tid,
            count(*) AS steps,
            avg(dur_ns) AS step_ns,
            avg(nccl_collective_ns) AS wait_ns
        FROM steps
        WHERE step > 1
        GROUP BY recording, pid, tid
    )
SELECT
    thread_label(recording, pid, tid) AS subject, -- thread that waits
    round(100 * wait_ns / step_ns, 1) AS value, -- share of step time
    '% of step time' AS unit, -- unit of value
    severity_of(wait_ns / step_ns) AS severity, -- high, medium or low
    round(wait_ns / 1e6, 3) AS lost_ms_per_step, -- [ms] in the phase, per step
    round(step_ns / greatest(step_ns - wait_ns, 1), 2) AS max_speedup, -- bound when all of it is hidden
    format('mean of {} steps: {} of {} blocked on other ranks; ', waits.steps, ms(wait_ns), ms(step_ns))
        || bound_text(step_ns, wait_ns) AS evidence, -- what it rests on
    'overlap it: DDP buckets (bucket_cap_mb), FSDP prefetch, no_sync() while accumulating; or send less (bf16)'
        AS advice, -- what to try
    format('zernel-analyze nccl {}', file_label(recording)) AS next_command -- to see more
FROM waits
CROSS JOIN thresholds
WHERE waits.steps >= thresholds.min_steps AND wait_ns >= thresholds.min_share * step_ns
ORDER BY lost_ms_per_step DESC, subject
LIMIT 20
