-- The job runs more threads than it has CPUs. The training thread waits for a CPU that other threads of it have.
--
-- PyTorch starts as many threads for its operators as the machine has CPUs, in each process of a job; BLAS and OpenMP
-- do likewise. Where most samples of the other threads are of Python code, they are threads of the job's own, such as
-- those of an executor. Where next to none is of OpenMP, BLAS or another pool for operators, they are threads of a
-- library, such as those that communicate.
-- Lost is the time in which the training thread could run and threads of its own process had the CPU, and that in which
-- it waits on a CPU for threads of its pool that have none, at most as the GPU is idle by the driver's samples.
-- Does not apply to CPUs that other processes have (cpu_preempted, noisy_neighbour), nor to recordings made before they
-- said who had a CPU. What can be saved at most is not known: threads that have a CPU wait for those that have none,
-- and OpenMP's do that on the CPU, so that fewer of them gain more than the time without one.
--
-- needs: cpu_waits, host_usage, _other_threads
-- severity: high from 25 % of step time, medium from 10 %
-- hint: torch.get_num_threads() tells how many threads PyTorch uses for an operator
-- lines: what the other threads run WHERE thread = 'other' AND state = 'on-cpu'
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps
            0.05 AS min_share -- what can be saved, as a share of step time
    )
SELECT
    waits.recording, -- recording
    waits.pid, -- process
    waits.tid, -- thread without a CPU
    round(100 * waits.share, 1) AS value, -- share of wall time
    '% of wall time' AS unit, -- unit of value
    step_ns, -- [ns] step
    lost_ns, -- [ns] ready without a CPU, or waiting for a pool that has none, at most as the GPU is idle
    NULL::DOUBLE AS bound_ns, -- [ns] saved at most: not known
    least_lost(lost_ns, least_idle_ns) AS least_lost_ns, -- [ns] lost at least, without samples of the GPU
    least_idle_ns, -- [ns] the GPU is idle at least, without samples
    format('mean of {} steps: {} of {} ready without a CPU; other threads of its process had it {} of that time; ',
        steps, ms(delay_ns), ms(step_ns), pct(holder_share))
        || format('{} threads for {} CPUs; ', threads,
            coalesce(CAST(coalesce(CAST(usage.allowed_cpus AS BIGINT), waits.cpus) AS VARCHAR), 'an unknown number of'))
        || CASE
            WHEN runs.python
                THEN format('{} of what its other threads run is Python code, by samples', pct(runs.in_python))
            WHEN runs.foreign_code
                THEN 'what its other threads run is neither Python code nor of OpenMP or BLAS, by samples'
            WHEN pool_ns >= 0.01 * step_ns THEN _pool_text(pool_ns, step_ns)
            ELSE 'what they lose on the CPU, as in OpenMP where each waits for all, is not in it'
        END AS evidence, -- what it rests on
    CASE
        WHEN runs.python
            THEN 'fewer threads of the job''s own, as max_workers of their executor: Python''s lock lets one of them '
                || 'run Python code at a time; or processes, which do not share it'
        WHEN runs.foreign_code
            THEN 'more CPUs for the job, or fewer threads of the library that the lines name: '
                || 'OMP_NUM_THREADS does not count for them'
        WHEN runs.helpers + 1 <= floor(coalesce(usage.allowed_cpus, waits.cpus)) AND runs.helpers >= 1
            THEN format('OMP_NUM_THREADS={} or torch.set_num_threads({}): operators use {} threads now, no more than '
                || 'there are CPUs, but other threads of the job need one, too', runs.helpers, runs.helpers,
                runs.helpers + 1)
        ELSE format('OMP_NUM_THREADS={} or torch.set_num_threads({}), '
            || 'shared by all processes of the job on this machine',
            greatest(CAST(floor(coalesce(usage.allowed_cpus, waits.cpus, 1)) AS BIGINT), 1),
            greatest(CAST(floor(coalesce(usage.allowed_cpus, waits.cpus, 1)) AS BIGINT), 1))
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM preemption"' AS next_command -- to see more
FROM cpu_waits AS waits
CROSS JOIN thresholds
LEFT JOIN _other_threads AS runs ON runs.recording = waits.recording AND runs.pid = waits.pid
LEFT JOIN host_usage AS usage ON usage.recording = waits.recording AND usage.pid = waits.pid
WHERE cause = 'unseen' AND crowded AND steps >= min_steps AND lost_ns >= min_share * step_ns
