-- Workers start again for every epoch. Old ones are joined, new ones forked, and the first batch waits for them.
--
-- Counted is the time in which the old workers end, that of the forks, and that to the first batch of each new worker,
-- without loading it, and what the first step takes longer, from the second pass on: the first start cannot be avoided.
-- Lost is that, at most as the GPU is idle by the driver's samples.
-- Does not apply where no new workers were seen for later passes.
--
-- needs: worker_starts, worker_crews, training_threads, gpu_busy
-- severity: high from 25 % of step time, medium from 10 %
-- hint: short epochs suffer most
-- lines: the start of workers WHERE thread = 'training' AND part = 'worker_start'
WITH
    thresholds AS (
        SELECT 0.02 AS min_share -- what can be saved, as a share of step time
    ),
    costs AS (
        SELECT
            starts.recording,
            starts.pid,
            starts.tid,
            starts.passes,
            starts.join_ns / starts.passes AS join_ns,
            starts.fork_ns / starts.passes AS fork_ns,
            starts.slower_ns / starts.passes AS slower_ns,
            starts.first_ns / starts.passes AS first_ns,
            starts.usual_ns / starts.passes AS usual_ns,
            (threads.steady_ns + starts.other_ns) / threads.steady_steps AS step_ns,
            threads.steady_steps,
            crews.processes,
            crews.at_once,
            busy.most_idle_ns,
            busy.least_idle_ns,
            least(starts.start_ns / threads.steady_steps, busy.idle_ns) AS lost_ns,
            starts.all_ns / threads.steady_steps AS bound_ns
        FROM worker_starts AS starts
        JOIN worker_crews AS crews ON crews.recording = starts.recording AND crews.pid = starts.pid
        JOIN training_threads AS threads
            ON threads.recording = starts.recording
            AND threads.pid = starts.pid
            AND threads.tid = starts.tid
        LEFT JOIN gpu_busy AS busy ON busy.recording = starts.recording AND busy.pid = starts.pid
        WHERE threads.steady_steps > 0
    ),
    bounds AS (
        SELECT
            costs.*,
            least(bound_ns, most_idle_ns) AS most_ns
        FROM costs
        CROSS JOIN thresholds
        WHERE lost_ns >= thresholds.min_share * step_ns
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that waits
    lost_ns AS part_ns, -- [ns] shown as share of step time lost to starts
    step_ns, -- [ns] step
    lost_ns, -- [ns] start-up spread over all steps
    most_ns AS bound_ns, -- [ns] saved at most, when later starts cost nothing
    least_lost(lost_ns, least_idle_ns) AS least_lost_ns, -- [ns] lost at least, without samples of the GPU
    least_idle_ns, -- [ns] the GPU is idle at least, without samples
    format('{} later pass{}: {} to join old workers, {} to fork, first waits {} against a usual {}, ',
        passes, CASE WHEN passes = 1 THEN '' ELSE 'es' END, ms(join_ns), ms(fork_ns), ms(first_ns), ms(usual_ns))
        || format('first step {} longer; {} worker processes for {} at once', ms(slower_ns), processes, at_once)
        AS evidence, -- what it rests on
    'keep the workers: DataLoader(persistent_workers=True)' AS advice, -- what to try
    'zernel-analyze sql {} "FROM data_wait_by_epoch"' AS next_command -- to see more
FROM bounds
