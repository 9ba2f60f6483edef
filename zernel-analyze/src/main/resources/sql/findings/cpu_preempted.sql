-- The training thread waits for a CPU. It could run, and threads of the job have the CPUs, or a limit forbids it.
--
-- Lost is the time in which it was ready and not running, and that in which it waits on a CPU for threads of its pool
-- that have none, at most as the GPU is idle by the driver's samples. Spans below the recorder's threshold are not in
-- it.
-- Does not apply where other programs had these CPUs meanwhile and no limit was used up (noisy_neighbour), threads of
-- the job that compute for it and are more than the CPUs (too_many_threads), or data workers that have too much to do
-- (data_bound), nor to one late rank of several (nccl_straggler). Who had a CPU is not known of recordings made before
-- they said so.
--
-- needs: cpu_waits, data_wait_causes, _bound_cpus, _other_threads, _process_info
-- severity: high from 25 % of step time, medium from 10 %
-- hint: the view off_cpu lists the reasons of all threads
-- lines: what the workers run OF workers WHERE thread = 'worker' AND state = 'on-cpu'
-- lines: what other threads of Python run OF threads WHERE thread = 'other' AND state = 'on-cpu' AND own
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps
            0.03 AS min_share, -- what can be saved, as a share of step time
            0.5 AS one, -- of the time of other programs that one must have had to be named in the advice
            0.1 AS own_share -- of the time, from which on other threads of the process are named next to others
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread without a CPU
    round(100 * delay_ns / step_ns, 1) AS value, -- share of wall time
    '% of wall time' AS unit, -- unit of value
    step_ns, -- [ns] step
    lost_ns, -- [ns] ready without a CPU, or waiting for a pool that has none, at most as the GPU is idle
    bound_ns, -- [ns] saved at most, when a CPU is always free
    least_lost(lost_ns, least_idle_ns) AS least_lost_ns, -- [ns] lost at least, without samples of the GPU
    least_idle_ns, -- [ns] the GPU is idle at least, without samples
    format('mean of {} steps: {} of {} ready without a CPU; {} waits, {} after losing the CPU to another thread, ',
        steps, ms(delay_ns), ms(step_ns), spans, preempted)
        || format('longest {}; ', ms(max_ns))
        || _pool_text(pool_ns, step_ns)
        || coalesce(format('it may run on {} of ', bound_cpus), '')
        || format('{} CPUs; ', coalesce(CAST(cpus AS VARCHAR), 'unknown'))
        || CASE
            WHEN limited THEN format('the CPU limit of {:.2f} CPUs was used up in {} of its periods; ',
                quota_cpus, pct(throttled_share))
            ELSE ''
        END
        || CASE
            WHEN limited OR holder = 'unknown' THEN ''
            WHEN holder = 'nobody'
                THEN format('no thread used a CPU that was free for it {} of that time; ', pct(nobody_share))
            WHEN holder = 'threads' AND runs.pools
                THEN format('its own threads of OpenMP, BLAS or another pool for operators had it {} of that time; ',
                    pct(holder_share))
            WHEN holder = 'threads'
                THEN format('another thread of its process had it {} of that time; ', pct(holder_share))
            WHEN holder IN ('others', 'started')
                THEN format('{} had it {} of that time; ',
                    CASE holder WHEN 'others' THEN 'other programs' ELSE 'programs that it started' END,
                    pct(holder_share))
                    || format('of them {} (pid {}) {}; ', coalesce(top_comm, 'a process'), top_pid, pct(top_share))
                    || CASE
                        WHEN threads_share >= own_share
                            THEN format('other threads of its process {}; ', pct(threads_share))
                        ELSE ''
                    END
            ELSE format('{} (pid {}) had it {} of that time; ',
                coalesce(top_comm, 'a process'), top_pid, pct(top_share))
        END
        || CASE
            WHEN NOT limited AND holder IN ('others', 'unknown') AND nice > 0
                THEN format('the training has nice value {}, so it yields to programs without; ', nice)
            ELSE ''
        END AS evidence, -- what it rests on
    CASE CASE WHEN limited THEN 'limit' WHEN bound_cpus IS NOT NULL THEN 'bound' ELSE holder END
        WHEN 'limit' THEN 'a higher CPU limit of the container (cpu.max): the job uses all that it has'
        WHEN 'bound'
            THEN 'let it run on more CPUs: taskset, numactl, OMP_PROC_BIND, GOMP_CPU_AFFINITY or a cpuset binds it'
        WHEN 'threads' THEN CASE
            WHEN runs.pools AND workers > 0
                THEN 'fewer threads for operators (OMP_NUM_THREADS, torch.set_num_threads): they have the CPU of the '
                    || 'thread that they work for, as data workers or other programs have theirs'
            WHEN runs.pools
                THEN 'fewer threads for operators (OMP_NUM_THREADS, torch.set_num_threads): they have the CPU of the '
                    || 'thread that they work for, as other programs have theirs'
            ELSE 'give the work of the other thread to a process with a CPU of its own, or do it less often'
        END
        WHEN 'started'
            THEN 'start fewer of these programs, or less often: the training starts them itself; or give them CPUs of '
                || 'their own (taskset), or nice them'
        WHEN 'workers' THEN 'fewer data workers, or more CPUs: the workers take those of the training thread'
        WHEN 'ranks' THEN CASE
            WHEN runs.pools
                THEN 'fewer threads in each process (OMP_NUM_THREADS, torch.set_num_threads), fewer processes, or '
                    || 'CPUs of its own for each: taskset, numactl'
            ELSE 'CPUs of its own for each process of the job: taskset, numactl, or fewer processes'
        END
        WHEN 'others' THEN CASE
            WHEN nice > 0
                THEN format('run the training without nice, or renice it (renice -n 0 -p {}); '
                    || 'or give it CPUs of its own', pid)
            WHEN top_share < one * holder_share
                THEN 'give the training CPUs of its own (taskset, cpusets), or run it while less else runs '
                    || 'on the machine'
            ELSE format('keep the two apart: taskset or cpusets for pid {}, or nice it', top_pid)
        END
        WHEN 'nobody' THEN 'a higher CPU limit of the container (cpu.max): CPUs were idle meanwhile'
        ELSE CASE
            WHEN workers > 0
                THEN 'free CPUs for it: fewer data workers, no other jobs on them, a higher limit of the container'
            WHEN threads > 1
                THEN 'free CPUs for it: a lower OMP_NUM_THREADS, no other jobs on them, a higher limit of the container'
            ELSE 'free CPUs for it: no other jobs on them, a higher limit of the container'
        END
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM off_cpu"' AS next_command, -- to see more
    holder AS cause -- who had the CPU: workers, threads (its own), ranks, started, others, nobody or unknown
FROM cpu_waits
LEFT JOIN _bound_cpus USING (recording, pid)
LEFT JOIN _other_threads AS runs USING (recording, pid)
LEFT JOIN (SELECT recording, pid, any_value(nice) AS nice FROM _process_info GROUP BY ALL) AS info
    USING (recording, pid)
CROSS JOIN thresholds
WHERE cause = 'unseen'
    AND NOT crowded
    AND NOT (holder = 'workers' AND (recording, pid) IN (
        SELECT (recording, pid)
        FROM data_wait_causes
        WHERE cause = 'transform'
    ))
    AND steps >= min_steps
    AND lost_ns >= min_share * step_ns
