-- Training waits for data. Every step spends time inside DataLoader `__next__`, or in what has the role data_wait.
--
-- Lost is the wait, at most as the GPU is idle by the driver's samples: what it does meanwhile is not lost. Where the
-- process is bound to some of the machine's CPUs, lost is what others save that are free. First steps are left out,
-- because they hold start-up. Of a trace that is opened without a recording neither workers nor CPUs are known; one of
-- few steps may be of first ones: that is said, and it is of low severity.
-- Where the thread itself is busy in most of the wait, and waits on sockets often, that is the hand-over of many
-- tensors: PyTorch passes the memory of each one by itself, through a connection of its own. Python objects and
-- NumPy arrays come as bytes, which the training thread reads and makes objects of again. What loading takes the
-- workers beyond the rest of a step is then not lost at least.
-- Workers that are idle have their batches ready: then the wait is the hand-over, or the sampler, which runs in the
-- training process. Where loading takes the workers less than that, the thread itself would be faster, and at least the
-- difference is lost. Else a hand-over is what workers cost, and worth a word from a tenth of the step on.
-- Where single fetches take many times as long as the usual one, training waits for these: a loader hands batches out
-- in order, and the other workers are idle once they are as far ahead as prefetch_factor allows.
-- Workers that compute also take the CPUs of the training's own computation, which counts, too: while the training
-- thread has no CPU, or waits on one for threads of OpenMP that have none. What these lose besides is only part of what
-- is saved at most, as it is not known how long the training thread waits for them.
-- Does not apply where another finding names the wait: storage_bound (the workers read), too_few_workers (CPUs are
-- idle), worker_startup (passes begin with new workers), nccl_straggler (one rank of several waits); nor to input
-- pipelines that are not a PyTorch DataLoader, unless `--probe` or a region gives their function the role data_wait.
--
-- needs: data_wait_causes, _bound_cpus, files
-- severity: high from 25 % of step time, medium from 10 %; low of few steps of a trace
-- hint: the view data_wait_causes has the arithmetic of all causes
-- lines: the loading WHERE loads
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            1 AS min_traced_steps, -- the same of a trace: many profile one step
            0.05 AS min_share, -- what can be saved, as a share of step time
            0.1 AS min_hand_over -- the same of a hand-over that no known way makes shorter
    ),
    waits AS (
        SELECT
            *,
            -- What is saved at least by a short hand-over, or where the thread itself loads, if that is worth while.
            CASE
                WHEN cause IN ('tensors', 'objects')
                    THEN greatest(rest_ns - _hand_over_ns() - greatest(load_ns - (step_ns - rest_ns), 0), 0)
                WHEN cause = 'idle' AND rest_ns - sampler_ns - load_ns >= min_share * step_ns
                    THEN rest_ns - sampler_ns - load_ns
            END AS least_saved_ns
        FROM data_wait_causes
        CROSS JOIN thresholds
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that waits
    data_ns + crowd_ns AS part_ns, -- [ns] shown as share of step time: the wait, and what workers take from the rest
    step_ns, -- [ns] step
    lost_ns, -- [ns] wait per step, at most as the GPU is idle
    bound_ns, -- [ns] saved at most, when no wait is left
    least_lost(
        least(
            lost_ns - CASE WHEN most_crowd_ns > crowd_ns THEN crowd_ns - least_crowd_ns ELSE 0 END,
            coalesce(least_saved_ns, lost_ns)
        ),
        least_idle_ns
    ) AS least_lost_ns, -- [ns] lost at least: the wait, or what a way is known to save, without samples of the GPU
    CASE WHEN state = 'trace' AND steps < min_steps THEN 'low' END
        AS severity, -- where it is not that by the share of a step
    format('{}: {} waiting of {}; ', mean_of(steps), ms(data_ns), ms(step_ns))
        || CASE
            WHEN cause = 'named' AND asleep_share IS NULL THEN format('all in {}', names)
            WHEN cause = 'named'
                THEN format('all in {}, which is asleep or blocked for {} of it', names, pct(least(asleep_share, 1)))
            WHEN cause = 'unseen' AND state = 'trace' THEN 'a trace does not show the workers'
            WHEN cause = 'unseen' THEN 'no data worker was seen'
            WHEN loads_in_process THEN 'the training thread loads the data itself (num_workers=0)'
            ELSE _workers_text(at_once, waiting_share, blocked_share, io_share, cpu_share, copied_share)
        END
        || CASE WHEN cause = 'unseen' THEN '' ELSE _cpus_text(idle_cpus, cpus, idle_measured) END
        || CASE
            WHEN cause = 'sampler'
                THEN format('; {} in the sampler, which runs in the training process with any number of workers',
                    ms(sampler_ns))
            WHEN cause = 'uneven'
                THEN format('; {} of {} fetches of theirs take {}, the median of all is {}',
                    long_fetches, fetches, ms(long_fetch_ns), ms(usual_fetch_ns))
            WHEN cause = 'objects'
                THEN format('; in {} of that the training thread reads and unpickles what the workers sent',
                    ms(objects_ns))
            WHEN cause = 'tensors'
                THEN format('; in {} of that the training thread itself is busy to take batches over', ms(handed_ns))
                    || format(', and waits on a socket {:.0f} times, as for each tensor', data_sockets)
            WHEN least_saved_ns IS NOT NULL
                THEN format('; that is the hand-over of batches, as loading takes the workers {} of a step',
                    ms(load_ns))
            ELSE ''
        END
        || coalesce(format('; it may run on {} of them', bound_cpus), '')
        || CASE
            WHEN crowd_ns < 0.01 * step_ns THEN ''
            WHEN most_crowd_ns > crowd_ns THEN format(
                '; {} to {} more, as workers have CPUs that the threads of its own computation need',
                ms(crowd_ns), ms(least(most_crowd_ns, step_ns - data_ns))
            )
            ELSE format('; {} more without a CPU that workers have', ms(crowd_ns))
        END
        || CASE
            WHEN state = 'trace' AND steps < min_steps THEN '; whether first steps are among them is not known'
            ELSE ''
        END
        || idle_text(idle_ns, lost_ns, least_idle_ns, bound_ns) AS evidence, -- what it rests on
    CASE cause
        WHEN 'unseen' THEN CASE
            WHEN state = 'trace'
                THEN 'more workers (num_workers, prefetch_factor) if each is busy, none (num_workers=0) if loading '
                    || 'takes less than the hand-over of a batch: zernel-record says which'
            ELSE 'the recording does not show the workers; record them too: leave out -p'
        END
        WHEN 'unmeasured'
            THEN format('DataLoader(num_workers={}, persistent_workers=True): whether CPUs are free is not known',
                workers_needed)
        WHEN 'named' THEN CASE
            WHEN asleep_share IS NULL
                THEN 'fetch the next batch in a thread or process of its own while this one computes'
            ELSE format(
                'fetch the next batch in a thread or process of its own while this one computes; or make {} {}', names,
                CASE WHEN asleep_share >= 0.5 THEN 'wait for several at once' ELSE 'use less CPU time' END
            )
        END
        WHEN 'sampler' THEN CASE
            WHEN draws_each
                THEN 'make the iterator once, outside the loop: each step draws the order of the whole data set anew'
            ELSE 'make the indices cheaper in the sampler, or all of them before the pass; workers do not run it'
        END
        WHEN 'uneven' THEN CASE
            WHEN at_once > 1
                THEN 'the longest fetches hold up batches that come after them: in_order=False (PyTorch 2.6 or newer), '
                    || 'a larger prefetch_factor or more workers; or make these samples cheaper'
            ELSE 'the longest fetches hold up batches that come after them: a larger prefetch_factor or more workers; '
                || 'or make these samples cheaper'
        END
        WHEN 'objects'
            THEN 'hand over tensors, which come in shared memory: lists, dictionaries and NumPy arrays come as bytes; '
                || 'make tensors of them in the data set or in collate_fn'
        WHEN 'tensors' THEN CASE
            WHEN rest_ns - load_ns >= min_share * step_ns
                THEN 'hand over few, large tensors, not many small ones: stack them in the data set or in collate_fn; '
                    || 'or num_workers=0, as loading takes less than the hand-over'
            ELSE 'hand over few, large tensors, not many small ones: stack them in the data set or in collate_fn'
        END
        WHEN 'idle' THEN CASE
            WHEN least_saved_ns IS NOT NULL
                THEN 'num_workers=0, as loading takes less than the hand-over; or larger batches of few, large tensors'
            ELSE 'the workers are idle: look at what hands batches over (pin_memory, collate, batch size)'
        END
        ELSE CASE
            WHEN useful_unbound_ns IS NULL AND few_ns < min_share * step_ns
                THEN format('make the samples cheaper: num_workers={} would keep up, but no CPU core is free',
                    workers_needed)
            WHEN useful_unbound_ns IS NULL
                THEN format('make the samples cheaper: num_workers={} would keep up, but on the CPUs there are '
                    || 'num_workers={} would save {} at most', workers_needed, workers_useful, ms(few_ns))
            WHEN loads_in_process THEN format(
                'let it run on more CPUs (taskset, numactl, OMP_PROC_BIND or a cpuset binds it), with num_workers={}',
                workers_needed
            )
            ELSE 'let it and its workers run on more CPUs (taskset, numactl, OMP_PROC_BIND or a cpuset binds them)'
        END
    END AS advice, -- what to try
    format('zernel-analyze sql {{}} "FROM {}"',
        CASE cause WHEN 'named' THEN 'off_cpu' ELSE 'data_wait_by_epoch' END) AS next_command -- to see more
FROM waits
LEFT JOIN _bound_cpus USING (recording, pid)
LEFT JOIN files USING (recording)
WHERE cause IN ('transform', 'tensors', 'objects', 'idle', 'uneven', 'sampler', 'unseen', 'named', 'unmeasured')
    AND steps >= CASE WHEN state = 'trace' THEN min_traced_steps ELSE min_steps END
    AND lost_ns >= CASE WHEN cause = 'idle' AND least_saved_ns IS NULL THEN min_hand_over ELSE min_share END * step_ns
