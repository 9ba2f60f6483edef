-- Training waits for data. Every step spends time inside DataLoader `__next__` that compute could have used.
--
-- The bound is Amdahl's: were all of the wait hidden, a step would take what is left. First steps are left out, because
-- they hold start-up. Does not apply to input pipelines that are not a PyTorch DataLoader.
--
-- needs: training_threads, worker_crews, recordings, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: compare with the finding storage_bound, which says how much of the wait is reading
WITH
    thresholds AS (
        SELECT
            0.1 AS min_share, -- share of step time spent waiting
            5 AS min_steps, -- steps after the first
            0.5 AS idle_share, -- workers are idle from this share of waiting
            0.3 AS reading_share -- workers read from storage from this share of their active time
    ),
    waits AS (
        SELECT
            threads.recording,
            threads.pid,
            threads.tid,
            threads.steady_ns / threads.steady_steps AS step_ns,
            threads.steady_data_ns / threads.steady_steps AS data_ns,
            threads.steady_data_ns / threads.steady_ns AS share,
            threads.loads_in_process,
            threads.steady_steps,
            worker_crews.at_once,
            worker_crews.wait_share,
            worker_crews.io_share,
            worker_crews.other_share,
            coalesce(recordings.cpus, 0) AS cpus
        FROM training_threads AS threads
        CROSS JOIN thresholds
        LEFT JOIN worker_crews
            ON worker_crews.recording = threads.recording
            AND worker_crews.pid = threads.pid
        LEFT JOIN recordings ON recordings.recording = threads.recording
        WHERE threads.steady_steps >= thresholds.min_steps
            AND threads.steady_data_ns >= thresholds.min_share * threads.steady_ns
    ),
    crews AS (
        SELECT
            waits.*,
            CAST(ceil(at_once * step_ns / greatest(step_ns - data_ns, 1)) AS BIGINT) AS workers_needed
        FROM waits
    ),
    causes AS (
        SELECT
            crews.*,
            CASE
                WHEN loads_in_process THEN 'in_process'
                WHEN at_once IS NULL THEN 'unseen'
                WHEN wait_share >= idle_share THEN 'idle'
                WHEN io_share >= reading_share * (io_share + other_share) THEN 'storage'
                WHEN workers_needed > cpus AND cpus > 0 THEN 'no_cpus'
                ELSE 'transform'
            END AS cause
        FROM crews
        CROSS JOIN thresholds
    )
SELECT
    thread_label(recording, pid, tid) AS subject, -- thread that waits
    round(100 * share, 1) AS value, -- share of step time spent waiting
    '% of step time' AS unit, -- unit of value
    severity_of(share) AS severity, -- high, medium or low
    round(data_ns / 1e6, 3) AS lost_ms_per_step, -- [ms] wait per step
    round(step_ns / greatest(step_ns - data_ns, 1), 2) AS max_speedup, -- bound when no wait is left
    format('mean of {} steps: {} waiting of {}; ', steady_steps, ms(data_ns), ms(step_ns))
        || CASE cause
            WHEN 'in_process' THEN 'the training thread loads the data itself (num_workers=0)'
            WHEN 'unseen' THEN 'no data worker was seen'
            ELSE format(
                '{} worker{}: {} in waits, {} in reads, {} other (CPU at most)',
                at_once, CASE WHEN at_once = 1 THEN '' ELSE 's' END,
                pct(wait_share), pct(io_share), pct(other_share)
            )
        END
        || '; ' || bound_text(step_ns, data_ns) AS evidence, -- what it rests on
    CASE cause
        WHEN 'in_process' THEN 'load in parallel: DataLoader(num_workers=4, persistent_workers=True)'
        WHEN 'unseen' THEN 'the recording does not show the workers; record them too: leave out -p'
        WHEN 'idle' THEN 'the workers are idle: look at what hands batches over (pin_memory, collate, batch size)'
        WHEN 'storage' THEN 'the workers read from storage: cache or pack the data, or prefetch more'
        WHEN 'no_cpus' THEN format(
            'make transforms cheaper: {} workers would be needed, and the machine has {} CPUs', workers_needed, cpus
        )
        ELSE format('the workers are busy: make transforms cheaper, or try num_workers={}', workers_needed)
    END AS advice, -- what to try
    format('zernel-analyze sql {} "FROM data_wait_by_epoch"', file_label(recording)) AS next_command -- to see more
FROM causes
ORDER BY lost_ms_per_step DESC, subject
LIMIT 20
