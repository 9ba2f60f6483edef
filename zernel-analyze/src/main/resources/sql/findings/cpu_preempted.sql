-- The training thread waits for a CPU. It could run, and other threads have the CPUs, or a limit forbids it.
--
-- Lost is the time in which it was ready and not running, at most as the GPU is idle by the driver's samples. Spans
-- below the recorder's threshold are not in it.
-- Does not apply where other processes were recorded on these CPUs meanwhile (noisy_neighbour).
--
-- needs: preemption, training_threads, recordings, gpu_busy, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: the view off_cpu lists the reasons of all threads
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps
            0.03 AS min_share, -- what can be saved, as a share of step time
            0.5 AS others_share, -- part of the time in which other processes were seen on the CPU
            0.03 AS sample_error -- of the driver's samples, for the bound
    ),
    delays AS (
        SELECT
            preemption.*,
            threads.steps,
            threads.wall_ns / threads.steps AS step_ns,
            recordings.cpus,
            preemption.runq_ns / threads.steps AS delay_ns
        FROM preemption
        JOIN training_threads AS threads
            ON threads.recording = preemption.recording
            AND threads.pid = preemption.pid
            AND threads.tid = preemption.tid
        LEFT JOIN recordings ON recordings.recording = preemption.recording
        CROSS JOIN thresholds
        WHERE threads.steps >= thresholds.min_steps
            AND preemption.others_ns < thresholds.others_share * preemption.runq_ns
    ),
    costs AS (
        SELECT
            delays.*,
            least(delay_ns, coalesce(busy.idle_ns, delay_ns)) AS lost_ns,
            least(delay_ns, coalesce(busy.idle_ns + thresholds.sample_error * delays.step_ns, delay_ns)) AS bound_ns
        FROM delays
        LEFT JOIN gpu_busy AS busy ON busy.recording = delays.recording AND busy.pid = delays.pid
        CROSS JOIN thresholds
    )
SELECT
    thread_label(recording, pid, tid) AS subject, -- thread without a CPU
    round(100 * share, 1) AS value, -- share of wall time
    '% of wall time' AS unit, -- unit of value
    severity_of(lost_ns / step_ns) AS severity, -- high, medium or low
    round(lost_ns / 1e6, 3) AS lost_ms_per_step, -- [ms] ready without a CPU, at most as the GPU is idle
    round(step_ns / greatest(step_ns - bound_ns, 1), 2) AS max_speedup, -- bound when a CPU is always free
    format('mean of {} steps: {} of {} ready without a CPU; {} waits, {} after losing the CPU to another thread, ',
        steps, ms(delay_ns), ms(step_ns), spans, preempted)
        || format('longest {}; {} CPUs; ', ms(max_ns), coalesce(CAST(cpus AS VARCHAR), 'unknown'))
        || bound_text(step_ns, bound_ns) AS evidence, -- what it rests on
    'free CPUs for it: fewer data workers or OMP_NUM_THREADS, no other jobs on them, a higher limit of the container'
        AS advice, -- what to try
    format('zernel-analyze sql {} "FROM off_cpu"', file_label(recording)) AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE lost_ns >= thresholds.min_share * step_ns
ORDER BY lost_ms_per_step DESC, subject
LIMIT 20
