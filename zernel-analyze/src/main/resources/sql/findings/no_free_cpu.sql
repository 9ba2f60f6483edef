-- The program waits for a CPU. Its threads could run, and others have the CPUs, or a limit forbids it.
--
-- Of processes without steps: the threads that compute most, while they were ready to run and did not. Who had the CPU
-- is who had it at the end of the wait. Where its threads that wait are no more than the CPUs, they take turns because
-- of others, and their time is not their own doing. Where they are more than twice as many, and what the other threads
-- run is mostly no Python code, they are a pool's, which splits one computation over too many threads: these wait for
-- each other. Waits that ended with the recorder on the CPU are left out, as are spans below its threshold.
-- Does not apply to trainings (cpu_preempted, noisy_neighbour, too_many_threads).
--
-- needs: _working_threads, _switches, processes, recordings, recorded_columns, _host_limits, _host_changes
-- needs: stack_events, stack_lines
-- severity: high from 25 % of the time of these threads, medium from 10 %, without what is their own doing but a pool's
-- hint: the view off_cpu lists the reasons of all threads
WITH
    thresholds AS (
        SELECT
            500000000 AS min_ns, -- [ns] ready without a CPU
            0.1 AS min_share, -- of the time of the threads, ready without a CPU, without what is their own doing
            0.25 AS crowded_share, -- the same, with it: own threads may be doing what has to be done
            0.25 AS high_share, -- for high severity, without it
            0.1 AS short_share, -- of the time without a CPU of the thread with the most, for one to count
            0.1 AS least_work, -- CPU time of the threads, as a share of that of the process with the most
            0.1 AS least_holder, -- of the time without a CPU, from which on who had the CPU is named
            0.5 AS named_share, -- of the time of other programs that one must have had to be named
            0.5 AS limited_share, -- of the periods of the quota of the cgroup, in which it was used up
            0.5 AS pool_share, -- of the CPU time of other threads, without Python code, from which on they are a pool's
            20 AS min_samples, -- of these threads, to tell so
            2 AS pool_threads -- for each CPU, above which they are too many: two pools may take turns
    ),
    crews AS (
        SELECT
            recording,
            pid,
            any_value(threads) AS threads,
            any_value(wall_ns) AS wall_ns,
            any_value(cpu_ns) / max(any_value(cpu_ns)) OVER (PARTITION BY recording) AS work
        FROM _working_threads
        GROUP BY recording, pid
    ),
    -- Recordings made before they said who had a CPU do not say that nobody had it.
    telling AS (
        SELECT recording
        FROM _switches
        WHERE other_pid IS NOT NULL
        UNION
        SELECT recording
        FROM recorded_columns
        WHERE name = 'other_pid'
    ),
    held AS (
        SELECT
            switches.recording,
            switches.pid,
            CASE
                WHEN telling.recording IS NULL THEN 'unknown'
                WHEN switches.other_pid IS NULL THEN 'nobody'
                WHEN switches.other_pid = switches.pid THEN 'threads'
                WHEN others.pid IS NOT NULL THEN 'job'
                -- Threads of the kernel run for a moment, and often last.
                WHEN regexp_matches(
                        switches.other_comm,
                        '^(rcu_|kworker|ksoftirqd|migration/|kswapd|kcompactd|khugepaged|kdamond|jbd2|irq/)'
                    )
                    THEN 'kernel'
                ELSE 'others'
            END AS holder,
            coalesce(others.comm, switches.other_comm) AS comm,
            sum(switches.runq_ns) AS ns,
            count(DISTINCT switches.other_pid) AS pids,
            min(switches.other_pid) AS other_pid,
            count(*) AS spans,
            max(switches.runq_ns) AS max_ns
        FROM _switches AS switches
        JOIN _working_threads AS threads
            ON threads.recording = switches.recording
            AND threads.pid = switches.pid
            AND threads.tid = switches.tid
            AND threads.work_ns <= switches.ts_ns
            AND threads.until_ns > switches.ts_ns
        JOIN recordings ON recordings.recording = switches.recording
        LEFT JOIN telling ON telling.recording = switches.recording
        LEFT JOIN processes AS others
            ON others.recording = switches.recording
            AND others.pid = switches.other_pid
        WHERE switches.runq_ns > 0 AND (switches.other_pid = recordings.recorder_pid) IS NOT TRUE
        GROUP BY ALL
    ),
    sums AS (
        SELECT
            recording,
            pid,
            sum(ns) AS ready_ns,
            sum(spans) AS spans,
            max(max_ns) AS max_ns,
            coalesce(sum(ns) FILTER (holder = 'nobody'), 0) AS nobody_ns,
            coalesce(sum(ns) FILTER (holder = 'threads'), 0) AS threads_ns,
            coalesce(sum(ns) FILTER (holder = 'job'), 0) AS job_ns,
            coalesce(sum(ns) FILTER (holder = 'others'), 0) AS others_ns,
            coalesce(sum(ns) FILTER (holder = 'kernel'), 0) AS kernel_ns,
            arg_max({'comm': comm, 'pids': pids, 'pid': other_pid, 'ns': ns}, (ns, other_pid)) FILTER (
                holder = 'others'
            ) AS top
        FROM held
        GROUP BY recording, pid
    ),
    -- Threads of the process that are short of CPUs.
    crowds AS (
        SELECT recording, pid, count(*) AS threads
        FROM (
            SELECT
                recording,
                pid,
                tid,
                sum(runq_ns) AS ns,
                max(sum(runq_ns)) OVER (PARTITION BY recording, pid) AS most_ns
            FROM _switches
            WHERE runq_ns > 0
            GROUP BY recording, pid, tid
        )
        CROSS JOIN thresholds
        WHERE ns >= short_share * most_ns
        GROUP BY recording, pid
    ),
    pools AS (
        SELECT events.recording, events.pid
        FROM stack_events AS events
        JOIN stack_lines AS lines ON lines.id = events.id
        ANTI JOIN _working_threads AS working
            ON working.recording = events.recording
            AND working.pid = events.pid
            AND working.tid = events.tid
        CROSS JOIN thresholds
        WHERE events.kind = 'sample' AND events.ns > 0
        GROUP BY events.recording, events.pid
        HAVING count(*) >= any_value(thresholds.min_samples)
            AND sum(events.ns) FILTER (NOT lines.python) >= any_value(thresholds.pool_share) * sum(events.ns)
    ),
    quotas AS (
        SELECT
            limits.recording,
            limits.pid,
            any_value(limits.quota_cpus) AS cpus,
            sum(changes.change) FILTER (changes.name = 'cgroup_throttled')
                / nullif(sum(changes.change) FILTER (changes.name = 'cgroup_periods'), 0) AS throttled_share
        FROM _host_limits AS limits
        JOIN _host_changes AS changes
            ON changes.recording = limits.recording
            AND changes.object = limits.cpu_group
            AND changes.pid IS NULL
        GROUP BY limits.recording, limits.pid
    ),
    found AS (
        SELECT
            sums.*,
            crews.threads,
            crews.wall_ns,
            quotas.cpus AS quota_cpus,
            quotas.throttled_share,
            coalesce(quotas.throttled_share >= thresholds.limited_share, FALSE) AS limited,
            limits.allowed_cpus,
            recordings.cpus,
            crowds.threads AS crowd,
            coalesce(limits.allowed_cpus, recordings.cpus, 1) AS own_cpus,
            crowds.threads > own_cpus AS crowded,
            crowds.threads > thresholds.pool_threads * own_cpus AND pools.pid IS NOT NULL AS pooled,
            CASE
                WHEN crowded OR sums.others_ns + sums.job_ns < thresholds.least_holder * sums.ready_ns
                    THEN sums.threads_ns
                ELSE 0
            END AS own_ns,
            sums.ready_ns - CASE WHEN pooled THEN 0 ELSE own_ns END AS avoidable_ns
        FROM sums
        JOIN crews ON crews.recording = sums.recording AND crews.pid = sums.pid
        CROSS JOIN thresholds
        LEFT JOIN crowds ON crowds.recording = sums.recording AND crowds.pid = sums.pid
        LEFT JOIN pools ON pools.recording = sums.recording AND pools.pid = sums.pid
        LEFT JOIN quotas ON quotas.recording = sums.recording AND quotas.pid = sums.pid
        LEFT JOIN _host_limits AS limits ON limits.recording = sums.recording AND limits.pid = sums.pid
        LEFT JOIN recordings ON recordings.recording = sums.recording
        WHERE crews.work >= thresholds.least_work
            AND sums.ready_ns >= thresholds.min_ns
            AND (avoidable_ns >= thresholds.min_share * crews.wall_ns
                OR sums.ready_ns >= thresholds.crowded_share * crews.wall_ns)
    )
SELECT
    recording, -- recording
    pid, -- process
    round(100 * ready_ns / wall_ns, 1) AS value, -- percent of the time of the threads
    '% of the time of ' || CASE threads WHEN 1 THEN 'the thread that computes' ELSE 'the threads that compute' END
        AS unit, -- unit of value
    CASE
        WHEN avoidable_ns >= high_share * wall_ns THEN 'high'
        WHEN avoidable_ns >= min_share * wall_ns THEN 'medium'
        ELSE 'low'
    END AS severity, -- high, medium or low
    concat_ws(
        '; ',
        format('{:.2f} s of {:.2f} s ready without a CPU, in {} waits, {} the longest',
            ready_ns / 1e9, wall_ns / 1e9, spans, ms(max_ns)),
        CASE
            WHEN limited THEN format('the CPU limit of {:.2f} CPUs was used up in {} of its periods',
                quota_cpus, pct(throttled_share))
        END,
        nullif(
            concat_ws(
                ', ',
                CASE
                    WHEN others_ns >= least_holder * ready_ns
                        THEN format('others on this machine had it {} of that time', pct(others_ns / ready_ns))
                            || CASE
                                WHEN top.ns < named_share * others_ns THEN ''
                                WHEN top.pids > 1
                                    THEN format(', most {} ({} processes, such as pid {})', top.comm, top.pids, top.pid)
                                ELSE format(', most {} (pid {})', top.comm, top.pid)
                            END
                END,
                CASE
                    WHEN threads_ns >= least_holder * ready_ns
                        THEN format('other threads of its process {}', pct(threads_ns / ready_ns))
                            || CASE
                                WHEN pooled THEN format(', of a pool: {} are short of CPUs, and most of what they run '
                                    || 'is no Python code', crowd)
                                WHEN own_ns = 0
                                    THEN ' (without the others there are CPUs enough for them)'
                                ELSE ''
                            END
                END,
                CASE
                    WHEN job_ns >= least_holder * ready_ns
                        THEN format('other recorded processes {}', pct(job_ns / ready_ns))
                END,
                CASE
                    WHEN kernel_ns >= least_holder * ready_ns
                        THEN format('threads of the kernel {}', pct(kernel_ns / ready_ns))
                END,
                CASE
                    WHEN nobody_ns >= least_holder * ready_ns THEN format('nobody {}', pct(nobody_ns / ready_ns))
                END
            ),
            ''
        ),
        format('it may run on {} of {} CPUs', coalesce(allowed_cpus, cpus), cpus)
    ) AS evidence, -- what it rests on
    CASE
        WHEN limited
            THEN 'raise the CPU limit of its container or cgroup, or compute in as many threads as it gives CPUs: '
                || 'OMP_NUM_THREADS, torch.set_num_threads, n_jobs'
        WHEN others_ns + threads_ns + job_ns + nobody_ns + kernel_ns = 0
            THEN 'record again: this recording does not say who had the CPUs meanwhile'
        WHEN others_ns >= greatest(own_ns, job_ns, nobody_ns)
            THEN 'keep the CPUs free of other programs: run them elsewhere, later, or below this one (nice -n 19)'
        WHEN job_ns >= greatest(own_ns, nobody_ns)
            THEN 'run no more processes and threads at once than there are CPUs: processes x threads of each '
                || '(n_jobs, workers; OMP_NUM_THREADS, OPENBLAS_NUM_THREADS, torch.set_num_threads)'
        WHEN own_ns >= nobody_ns
            THEN 'compute in no more threads than there are CPUs: OMP_NUM_THREADS, OPENBLAS_NUM_THREADS, '
                || 'torch.set_num_threads, n_jobs, num_threads of LightGBM, nthread of XGBoost, intra_op_num_threads '
                || 'of onnxruntime'
        ELSE 'see what forbids it to run: its CPU limit (cpu.max of its cgroup), its CPUs (taskset -p PID)'
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM off_cpu"' AS next_command -- to see more
FROM found
CROSS JOIN thresholds
