-- Training waits for data. Every step spends time inside DataLoader `__next__` that the GPU could have used.
--
-- Lost is the wait, at most as the GPU is idle by the driver's samples: what it does meanwhile is not lost. First steps
-- are left out, because they hold start-up.
-- Does not apply where another finding names the wait: storage_bound (the workers read), too_few_workers (CPUs are
-- idle), worker_startup (passes begin with new workers), nccl_straggler (one rank of several waits); nor to input
-- pipelines that are not a PyTorch DataLoader.
--
-- needs: data_wait_causes, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: the view data_wait_causes has the arithmetic of all causes
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            0.05 AS min_share -- what can be saved, as a share of step time
    )
SELECT
    thread_label(recording, pid, tid) AS subject, -- thread that waits
    round(100 * data_ns / step_ns, 1) AS value, -- share of step time spent waiting
    '% of step time' AS unit, -- unit of value
    severity_of(least_lost(lost_ns, least_idle_ns) / step_ns) AS severity, -- high, medium or low
    round(lost_ns / 1e6, 3) AS lost_ms_per_step, -- [ms] wait per step, at most as the GPU is idle
    speedup(step_ns, bound_ns) AS max_speedup, -- bound when no wait is left
    format('mean of {} steps: {} waiting of {}; ', steps, ms(data_ns), ms(step_ns))
        || CASE
            WHEN cause = 'unseen' THEN 'no data worker was seen'
            WHEN loads_in_process THEN 'the training thread loads the data itself (num_workers=0)'
            ELSE format(
                    '{} worker{}: {} in waits, {} in reads, {} other (CPU at most)',
                    at_once, CASE WHEN at_once = 1 THEN '' ELSE 's' END,
                    pct(wait_share), pct(io_share), pct(other_share)
                )
                || format(', {} of {} CPUs idle', idle_cpus, cpus)
        END
        || idle_text(idle_ns, lost_ns, least_idle_ns, bound_ns)
        || '; ' || bound_text(step_ns, bound_ns) AS evidence, -- what it rests on
    CASE cause
        WHEN 'unseen' THEN 'the recording does not show the workers; record them too: leave out -p'
        WHEN 'idle' THEN 'the workers are idle: look at what hands batches over (pin_memory, collate, batch size)'
        ELSE format(
            'make transforms cheaper, or do them on the GPU: {} worker{} would be needed, and no CPU is left for them',
            workers_needed, CASE WHEN workers_needed = 1 THEN '' ELSE 's' END
        )
    END AS advice, -- what to try
    format('zernel-analyze sql {} "FROM data_wait_by_epoch"', file_label(recording)) AS next_command, -- to see more
    round(least_lost(lost_ns, least_idle_ns) / 1e6, 3)
        AS least_lost_ms_per_step -- [ms] lost_ms_per_step at least, without samples of the GPU
FROM data_wait_causes
CROSS JOIN thresholds
WHERE cause IN ('transform', 'idle', 'unseen') AND steps >= min_steps AND lost_ns >= min_share * step_ns
ORDER BY least_lost_ms_per_step DESC, lost_ms_per_step DESC, subject
LIMIT 20
