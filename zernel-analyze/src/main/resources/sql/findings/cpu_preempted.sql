-- The training thread waits for a CPU. It could run, and other threads have the CPUs, or a limit forbids it.
--
-- Lost is the time in which the thread was ready and not running. Spans below the recorder's threshold are not in it.
-- Does not apply when the thread waits for the GPU anyway and the delay is hidden; the bound does not know that.
--
-- needs: preemption, training_threads, recordings, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: the view off_cpu lists the reasons of all threads
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps
            0.03 AS min_share -- ready without a CPU, as a share of wall time
    ),
    delays AS (
        SELECT
            preemption.recording,
            preemption.pid,
            preemption.tid,
            preemption.share,
            preemption.spans,
            preemption.preempted,
            preemption.per_step_ns AS lost_ns,
            preemption.max_ns,
            threads.wall_ns / threads.steps AS step_ns,
            threads.steps,
            recordings.cpus
        FROM preemption
        JOIN training_threads AS threads
            ON threads.recording = preemption.recording
            AND threads.pid = preemption.pid
            AND threads.tid = preemption.tid
        LEFT JOIN recordings ON recordings.recording = preemption.recording
        CROSS JOIN thresholds
        WHERE threads.steps >= thresholds.min_steps AND preemption.share >= thresholds.min_share
    )
SELECT
    thread_label(recording, pid, tid) AS subject, -- thread without a CPU
    round(100 * share, 1) AS value, -- share of wall time
    '% of wall time' AS unit, -- unit of value
    severity_of(share) AS severity, -- high, medium or low
    round(lost_ns / 1e6, 3) AS lost_ms_per_step, -- [ms] ready without a CPU
    round(step_ns / greatest(step_ns - lost_ns, 1), 2) AS max_speedup, -- bound when a CPU is always free
    format('mean of {} steps: {} of {} ready without a CPU; {} waits, {} after losing the CPU to another thread, ',
        steps, ms(lost_ns), ms(step_ns), spans, preempted)
        || format('longest {}; {} CPUs; ', ms(max_ns), coalesce(CAST(cpus AS VARCHAR), 'unknown'))
        || bound_text(step_ns, lost_ns) AS evidence, -- what it rests on
    'free CPUs for it: fewer data workers or OMP_NUM_THREADS, no other jobs on them, a higher limit of the container'
        AS advice, -- what to try
    format('zernel-analyze sql {} "FROM off_cpu"', file_label(recording)) AS next_command -- to see more
FROM delays
ORDER BY lost_ms_per_step DESC, subject
LIMIT 20
