-- Workers start again for every epoch. Old ones are joined, new ones forked, and the first batch waits for them.
--
-- Counted is the time in which the old workers end, that of the forks, and that to the first batch of each new worker,
-- without loading it, and what the first steps take longer, from the second pass on: the first start cannot be avoided.
-- Lost is that, at most as the GPU is idle by the driver's samples.
-- Where most workers ended with an error, it says so: then new ones start for that.
-- Does not apply where no new workers were seen for later passes.
--
-- needs: worker_starts, worker_crews, training_threads, gpu_busy, workers, events
-- severity: high from 25 % of step time, medium from 10 %
-- hint: short epochs suffer most
-- lines: the start of workers WHERE thread = 'training' AND part = 'worker_start' AND step_kind IS NOT NULL
WITH
    thresholds AS (
        SELECT
            0.02 AS min_share, -- what can be saved, as a share of step time
            0.5 AS died_share -- of the worker processes, that end with an error: then that is why new ones start
    ),
    -- Workers that ended with an error: by an exception, a crash or a signal.
    died AS (
        SELECT
            workers.recording,
            workers.ppid AS pid,
            count(*) AS died,
            mode(exits.status ORDER BY exits.status) AS status
        FROM workers
        JOIN events AS exits ON exits.recording = workers.recording AND exits.pid = workers.pid
        WHERE exits.kind = 'process' AND exits.name = 'exit' AND exits.status <> 0
        GROUP BY workers.recording, workers.ppid
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
            starts.slower_steps,
            starts.first_ns / starts.passes AS first_ns,
            starts.usual_ns / starts.passes AS usual_ns,
            starts.ended_in_next,
            (threads.steady_ns + starts.other_ns) / threads.steady_steps AS step_ns,
            starts.other_ns > 0 AS in_other_steps,
            threads.steady_steps,
            crews.processes,
            crews.at_once,
            CASE WHEN died.died >= thresholds.died_share * crews.processes THEN died.died END AS died,
            died.status,
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
        LEFT JOIN died ON died.recording = starts.recording AND died.pid = starts.pid
        CROSS JOIN thresholds
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
    CASE WHEN in_other_steps THEN format('step of {} with the starts outside of training steps', ms(step_ns)) END
        AS step_is, -- which mean step that is
    lost_ns, -- [ns] start-up spread over all steps
    most_ns AS bound_ns, -- [ns] saved at most, when later starts cost nothing
    least_lost(lost_ns, least_idle_ns) AS least_lost_ns, -- [ns] lost at least, without samples of the GPU
    least_idle_ns, -- [ns] the GPU is idle at least, without samples
    format('{} later pass{}: {} to join old workers, {} to fork, first waits {} against a usual {}, ',
        passes, CASE WHEN passes = 1 THEN '' ELSE 'es' END, ms(join_ns), ms(fork_ns), ms(first_ns), ms(usual_ns))
        || format('first {} {} longer; {} worker processes for {} at once',
            CASE WHEN slower_steps = 1 THEN 'step' ELSE format('{} steps together', slower_steps) END,
            ms(slower_ns), processes, at_once)
        || CASE WHEN died IS NULL THEN '' ELSE format('; {} of them ended with status {}', died, status) END
        AS evidence, -- what it rests on
    CASE
        WHEN died IS NOT NULL
            THEN 'find out why the workers die: with num_workers=0 the sample that kills them shows its error; '
                || 'where they are killed for memory, dmesg says so'
        WHEN 2 * ended_in_next > passes
            THEN 'keep the workers: one DataLoader for all epochs, with persistent_workers=True'
        ELSE 'keep the workers: one DataLoader for all epochs, not a new one in each, with persistent_workers=True; '
            || 'these end when the iterator is deleted, as with a new DataLoader, or a loop that leaves early'
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM data_wait_by_epoch"' AS next_command -- to see more
FROM bounds
