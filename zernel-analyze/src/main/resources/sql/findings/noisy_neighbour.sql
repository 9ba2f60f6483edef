-- Another process takes the CPUs of the training. Its threads ran where the training thread was ready to run.
--
-- Lost is the time in which the thread was ready while a process that is no part of the training had its CPU, and that
-- in which it waits on one for threads of its pool that have none, at most as the GPU is idle by the driver's samples.
-- One program is told to go where its processes had the CPU for half of that time; else there are many, and the one
-- named, often a thread of the kernel that ran shortly at the end of a wait, is not to blame.
-- A program that the training started itself is said to be that. A training that is bound to few CPUs while others are
-- idle is told to be let run on those first.
-- Does not apply where the cgroup of the training used up its CPU limit (cpu_preempted), nor to recordings made before
-- they said who had a CPU, unless they are of the whole machine (-a): cpu_preempted reports the same time then.
--
-- needs: cpu_waits, processes, host_usage, _bound_cpus, _process_info
-- severity: high from 25 % of step time, medium from 10 %
-- hint: the view processes lists who was recorded
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps
            0.03 AS min_share, -- what can be saved, as a share of step time
            1.0 AS min_idle_cpus, -- CPUs of the machine that were idle while it was bound to others
            0.5 AS one -- of the time of such processes that one must have had to be the neighbour
    ),
    waits AS (
        SELECT cpu_waits.*, other_started AND other_share >= one AS started
        FROM cpu_waits
        CROSS JOIN thresholds
    )
SELECT
    waits.recording, -- recording
    waits.pid, -- process
    waits.tid, -- thread without a CPU
    round(100 * delay_ns / step_ns, 1) AS value, -- share of wall time, ready while such a process had the CPU
    '% of wall time' AS unit, -- unit of value
    step_ns, -- [ns] step
    lost_ns, -- [ns] ready without a CPU, or waiting for a pool that has none, at most as the GPU is idle
    bound_ns, -- [ns] saved at most, when a CPU is always free
    least_lost(lost_ns, least_idle_ns) AS least_lost_ns, -- [ns] lost at least, without samples of the GPU
    least_idle_ns, -- [ns] the GPU is idle at least, without samples
    format('mean of {} steps: {} of {} ready without a CPU while ', steps, ms(delay_ns), ms(step_ns))
        || CASE
            WHEN waits.other_pid IS NULL THEN 'others had it'
            WHEN other_share < one
                THEN format('many others had it, most of them {} with {}{}',
                    coalesce(neighbours.comm, other_comm, 'another process'), pct(other_share),
                    CASE WHEN other_started THEN ', which the training started itself' ELSE '' END)
            WHEN other_pids > 1 THEN format('{} processes called {} or others had it', other_pids, other_comm)
            ELSE format('{} (pid {}) or others had it',
                coalesce(neighbours.comm, other_comm, 'another process'), other_pid)
        END
        || CASE
            WHEN squeezed
                THEN format(', or a thread of its own, for which these leave no other CPU: they use {:.1f} of {}',
                    beside_cpus, usage.cpus)
            ELSE ''
        END
        || CASE
            WHEN NOT started THEN ''
            WHEN other_pids > 1 THEN '; the training started them itself'
            ELSE '; the training started it itself'
        END
        || format('; {} waits of it and of threads that launch for it, longest {}; ', spans, ms(max_ns))
        || _pool_text(pool_ns, step_ns)
        || coalesce(format('it may run on {} of {} CPUs, and {:.1f} of all were idle; ',
            bound_cpus, usage.cpus, greatest(usage.cpus - busy_cpus, 0)), '')
        || CASE
            WHEN nice > 0 AND other_started IS NOT TRUE
                THEN format('the training has nice value {}, so it yields to programs without; ', nice)
            ELSE ''
        END
        AS evidence, -- what it rests on
    CASE
        WHEN bound_cpus IS NOT NULL AND usage.cpus - busy_cpus >= min_idle_cpus
            THEN 'let it run on more CPUs first: taskset, numactl, OMP_PROC_BIND or a cpuset binds it'
        WHEN nice > 0 AND other_started IS NOT TRUE
            THEN format('run the training without nice, or renice it (renice -n 0 -p {}); or give it CPUs of its own',
                waits.pid)
        WHEN waits.other_pid IS NULL OR other_share < one
            THEN 'give the training CPUs of its own (taskset, cpusets), or run it while less else runs on the machine'
        WHEN started
            THEN 'start fewer of these programs, or less often: the training starts them itself; or give them CPUs of '
                || 'their own (taskset), or nice them'
        WHEN other_pids > 1 THEN 'keep them apart: taskset or cpusets, or nice them, or move them to another machine'
        ELSE format('keep the two apart: taskset or cpusets for pid {}, or nice it, or move it to another machine',
            other_pid)
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM preemption"' AS next_command -- to see more
FROM waits
CROSS JOIN thresholds
LEFT JOIN _bound_cpus AS bound ON bound.recording = waits.recording AND bound.pid = waits.pid
LEFT JOIN host_usage AS usage ON usage.recording = waits.recording AND usage.pid = waits.pid
LEFT JOIN (SELECT recording, pid, any_value(nice) AS nice FROM _process_info GROUP BY ALL) AS info
    ON info.recording = waits.recording AND info.pid = waits.pid
LEFT JOIN processes AS neighbours ON neighbours.recording = waits.recording AND neighbours.pid = waits.other_pid
WHERE cause = 'neighbour' AND steps >= min_steps AND lost_ns >= min_share * step_ns
