-- Training waits for data while CPUs are idle. The workers are busy, and there are too few of them.
--
-- Lost is the wait, at most as the GPU is idle by the driver's samples. The CPUs that are idle are those of the machine
-- less two for each training process and less the busy time of the workers; each worker more must have a whole one.
-- Does not apply where a container or an affinity forbids the other CPUs, where other jobs that were not recorded use
-- them, where the workers mostly read (storage_bound), or to one late rank of several (nccl_straggler).
--
-- needs: data_wait_causes, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: more workers than CPUs do not help; persistent_workers=True keeps them between epochs
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
            WHEN loads_in_process THEN 'the training thread loads the data itself (num_workers=0)'
            ELSE format(
                    '{} worker{}: {} in waits, {} in reads, {} other (CPU at most)',
                    at_once, CASE WHEN at_once = 1 THEN '' ELSE 's' END,
                    pct(wait_share), pct(io_share), pct(other_share)
                )
        END
        || format(', {} of {} CPUs idle', idle_cpus, cpus)
        || idle_text(idle_ns, lost_ns, least_idle_ns, bound_ns)
        || '; ' || bound_text(step_ns, bound_ns) AS evidence, -- what it rests on
    format('DataLoader(num_workers={}, persistent_workers=True)', workers_needed) AS advice, -- what to try
    format('zernel-analyze sql {} "FROM workers"', file_label(recording)) AS next_command, -- to see more
    round(least_lost(lost_ns, least_idle_ns) / 1e6, 3)
        AS least_lost_ms_per_step -- [ms] lost_ms_per_step at least, without samples of the GPU
FROM data_wait_causes
CROSS JOIN thresholds
WHERE cause = 'few' AND steps >= min_steps AND lost_ns >= min_share * step_ns
ORDER BY least_lost_ms_per_step DESC, lost_ms_per_step DESC, subject
LIMIT 20
