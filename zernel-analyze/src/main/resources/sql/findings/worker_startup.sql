-- Workers start anew for every epoch. The first batch of each pass waits until new processes have imported the code.
--
-- Counted is what the first wait of a pass takes over the median wait, from the second pass on: the first start cannot
-- be avoided. Applies only where new workers were seen for later passes.
--
-- needs: data_wait_by_epoch, worker_crews, training_threads, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: short epochs suffer most
WITH
    thresholds AS (
        SELECT 0.02 AS min_share -- share of all step time after the first
    ),
    starts AS (
        SELECT
            recording,
            pid,
            tid,
            count(*) AS passes,
            sum(greatest(first_ns - p50_ns, 0)) AS excess_ns,
            quantile_cont(first_ns, 0.5) AS first_ns,
            quantile_cont(p50_ns, 0.5) AS usual_ns
        FROM data_wait_by_epoch
        WHERE epoch > 1 AND waits > 2
        GROUP BY ALL
    ),
    costs AS (
        SELECT
            starts.recording,
            starts.pid,
            starts.tid,
            starts.passes,
            starts.first_ns,
            starts.usual_ns,
            starts.excess_ns,
            threads.steady_ns,
            threads.steady_steps,
            crews.processes,
            crews.at_once
        FROM starts
        JOIN worker_crews AS crews ON crews.recording = starts.recording AND crews.pid = starts.pid
        JOIN training_threads AS threads
            ON threads.recording = starts.recording
            AND threads.pid = starts.pid
            AND threads.tid = starts.tid
        WHERE crews.processes > crews.at_once AND threads.steady_steps > 0
    )
SELECT
    thread_label(recording, pid, tid) AS subject, -- thread that waits
    round(100 * excess_ns / steady_ns, 1) AS value, -- share of step time lost to starts
    '% of step time' AS unit, -- unit of value
    severity_of(excess_ns / steady_ns) AS severity, -- high, medium or low
    round(excess_ns / steady_steps / 1e6, 3) AS lost_ms_per_step, -- [ms] start-up spread over all steps
    round(steady_ns / greatest(steady_ns - excess_ns, 1), 2) AS max_speedup, -- bound when later starts cost nothing
    format('{} later pass{}: first wait {} against a usual {}; {} worker processes for {} at once',
        passes, CASE WHEN passes = 1 THEN '' ELSE 'es' END, ms(first_ns), ms(usual_ns), processes, at_once)
        || '; ' || bound_text(steady_ns / steady_steps, excess_ns / steady_steps) AS evidence, -- what it rests on
    'keep the workers: DataLoader(persistent_workers=True)' AS advice, -- what to try
    format('zernel-analyze sql {} "FROM data_wait_by_epoch"', file_label(recording)) AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE excess_ns >= thresholds.min_share * steady_ns
ORDER BY lost_ms_per_step DESC, subject
LIMIT 20
