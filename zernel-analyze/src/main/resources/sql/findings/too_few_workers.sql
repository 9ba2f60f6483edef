-- Training waits for data that more workers would make in time. Loading waits for something remote, or CPUs are idle.
--
-- Lost is what more workers bring: a step is then as long as the training thread's own work, or as all work on the CPU
-- takes on the CPUs that the job has and those that are idle, as measured with affinity and quota. At most as much is
-- lost as the GPU is idle by the driver's samples. Workers that are blocked, in a socket or asleep, need no CPU. Where
-- they need most CPUs of the machine it is a range: two CPUs may be two threads of one core.
-- Where the training thread loads the data itself, workers save neither its sampler, which stays in its process, nor
-- what it takes to get a batch from a worker, 0.3 ms at least. That is assumed, so what they save is only told from
-- there on. Severity is then by all the rest of loading, which samples that cost less would save without any worker.
-- At most saved is all of the wait, as by such samples. Where its operators use threads of a pool, workers compete with
-- these for CPUs that are idle only while the thread loads: at least saved is what all cores take less for it than one.
-- Does not apply where the workers mostly read (storage_bound), where no CPU is left for transforms (data_bound), or to
-- one late rank of several (nccl_straggler).
--
-- needs: data_wait_causes
-- severity: high from 25 % of step time, medium from 10 %
-- hint: workers that compute need a CPU each; persistent_workers=True keeps them between epochs
-- lines: the loading WHERE loads
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            0.05 AS min_share -- what can be saved, as a share of step time
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that waits
    data_ns AS part_ns, -- [ns] shown as share of step time spent waiting
    step_ns, -- [ns] step
    lost_ns, -- [ns] that more workers save, at most as the GPU is idle
    bound_ns, -- [ns] saved at most, as by samples that cost nothing
    least_lost(lost_ns, least(least_idle_ns, shared_ns))
        AS least_lost_ns, -- [ns] lost at least: CPUs that share a core, no samples of the GPU
    CASE
        WHEN loads_in_process
            THEN severity_of(greatest(least_lost_ns, least_lost(saved_ns, least_idle_ns)) / step_ns)
    END AS severity, -- by all of loading, where the thread itself loads
    format('mean of {} steps: {} waiting of {}; ', steps, ms(data_ns), ms(step_ns))
        || CASE
            WHEN loads_in_process
                THEN format('the training thread loads the data itself (num_workers=0), {} of it on the CPU; '
                    || 'getting a batch from a worker is assumed to take {}', pct(load_cpu_share), ms(_hand_over_ns()))
            ELSE _workers_text(at_once, waiting_share, blocked_share, io_share, cpu_share, copied_share)
        END
        || _cpus_text(idle_cpus, cpus, idle_measured)
        || CASE
            WHEN bound_ns - most_few_ns < min_share * step_ns THEN ''
            ELSE format('; with them, more workers save at most {}', ms(most_few_ns))
        END
        || idle_text(idle_ns, lost_ns, least_idle_ns, most_few_ns)
        || CASE
            WHEN shared_ns IS NULL THEN ''
            WHEN shared_ns = 0 THEN '; if these are two threads of a core, nothing is saved'
            ELSE format('; if these are two threads of a core, only {} are saved', ms(shared_ns))
        END AS evidence, -- what it rests on
    CASE
        WHEN loads_in_process AND shared_ns < min_share * step_ns
            THEN format('make the samples cheaper: that could save up to {}; DataLoader(num_workers={}, '
                || 'persistent_workers=True) may save next to nothing', ms(data_ns - sampler_ns), workers_needed)
        WHEN loads_in_process AND saved_ns - lost_ns >= min_share * step_ns
            THEN format('DataLoader(num_workers={}, persistent_workers=True); or make the samples cheaper: '
                || 'that could save up to {}', workers_needed, ms(data_ns - sampler_ns))
        ELSE format('DataLoader(num_workers={}, persistent_workers=True)', workers_needed)
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM workers"' AS next_command -- to see more
FROM data_wait_causes
CROSS JOIN thresholds
WHERE cause = 'few'
    AND steps >= min_steps
    AND lost_ns >= greatest(min_share * step_ns, CASE WHEN loads_in_process THEN _hand_over_ns() ELSE 0 END)
