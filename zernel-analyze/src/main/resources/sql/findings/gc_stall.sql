-- Python's garbage collector stops the training now and then, or something that looks like it.
--
-- Where the collector was probed, counted are its runs in the training thread, in whichever part of a step they are.
-- Elsewhere it is inferred: stretches of slow steps in which nothing was called, beyond what is usual (view pauses).
-- Lost is their time, at most as the GPU is idle by the driver's samples: what is still queued runs meanwhile.
-- Does not apply to runs while it evaluates, nor to short ones over young objects, which are not recorded. What is
-- inferred does not apply to pauses in steps that open a checkpoint (checkpoint_stall), to time off the CPU
-- (cpu_preempted), to pauses in every step, which are no pauses but work (unexplained_time), nor to jobs that launch
-- nothing on a GPU.
--
-- needs: pauses, gc_runs, steps, gpu_busy, _evaluations
-- severity: high from 25 % of step time, medium from 10 %
-- hint: gc.callbacks tell a program when it runs; `zernel-record probes` says whether its Python can be probed (gc)
-- lines: the collections WHERE thread = 'training' AND (kind = 'gc' OR waits = 'gc')
WITH
    thresholds AS (
        SELECT
            10 AS min_steps, -- steps, without warm-up
            0.02 AS min_share -- what can be saved, as a share of step time
    ),
    trained AS (
        SELECT recording, pid, tid, count(*) AS steps, avg(dur_ns - evaluation_ns) AS step_ns
        FROM steps
        WHERE step_kind <> 'warmup'
        GROUP BY ALL
    ),
    found AS (
        SELECT recording, pid, tid, start_ns, dur_ns, FALSE AS measured, NULL AS generation, NULL AS asked
        FROM pauses
        UNION ALL
        SELECT recording, pid, tid, start_ns, dur_ns, TRUE, generation, asked
        FROM gc_runs
    ),
    stalls AS (
        SELECT found.*
        FROM found
        ASOF LEFT JOIN _evaluations AS loops
            ON loops.recording = found.recording
            AND loops.pid = found.pid
            AND loops.tid = found.tid
            AND loops.start_ns <= found.start_ns
        WHERE coalesce(found.start_ns >= loops.end_ns, TRUE)
    ),
    paused AS (
        SELECT
            stalls.recording,
            stalls.pid,
            stalls.tid,
            bool_or(stalls.measured) AS measured,
            count(*) AS pauses,
            sum(stalls.dur_ns) AS all_ns,
            sum(stalls.dur_ns) / any_value(trained.steps) AS pause_ns,
            median(stalls.dur_ns) AS usual_ns,
            max(stalls.dur_ns) AS longest_ns,
            count(*) FILTER (WHERE stalls.generation = 2) AS full_runs,
            coalesce(sum(stalls.dur_ns) FILTER (WHERE stalls.generation = 2), 0) AS full_ns,
            count(*) FILTER (WHERE stalls.asked) AS asked_runs,
            coalesce(sum(stalls.dur_ns) FILTER (WHERE stalls.asked), 0) AS asked_ns,
            count(stalls.asked) > 0 AS knows_who_asked,
            any_value(trained.steps) AS steps,
            any_value(trained.step_ns) AS step_ns
        FROM stalls
        JOIN trained
            ON trained.recording = stalls.recording
            AND trained.pid = stalls.pid
            AND trained.tid = stalls.tid
        GROUP BY ALL
    ),
    costs AS (
        SELECT
            paused.*,
            least(pause_ns, busy.idle_ns) AS lost_ns,
            least(pause_ns, busy.most_idle_ns) AS bound_ns,
            busy.least_idle_ns
        FROM paused
        LEFT JOIN gpu_busy AS busy ON busy.recording = paused.recording AND busy.pid = paused.pid
        CROSS JOIN thresholds
        WHERE paused.steps >= thresholds.min_steps
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    pauses AS value, -- pauses
    CASE WHEN measured THEN 'collection' ELSE 'pause' END || CASE WHEN pauses = 1 THEN '' ELSE 's' END
        || format(' in {} steps', steps)
        AS unit, -- unit of value
    step_ns, -- [ns] step
    lost_ns, -- [ns] pauses spread over all steps
    bound_ns, -- [ns] saved at most, when there are none
    least_lost(lost_ns, least_idle_ns) AS least_lost_ns, -- [ns] lost at least, without samples of the GPU
    least_idle_ns, -- [ns] the GPU is idle at least, without samples
    CASE
        WHEN measured
            THEN format('{} each (median), {} the longest, {} per step ({}); {} of all objects, {} of the time; ',
                ms(usual_ns), ms(longest_ns), ms(pause_ns), pct(pause_ns / step_ns), full_runs, pct(full_ns / all_ns))
                || CASE
                    WHEN asked_runs > 0
                        THEN format('gc.collect() asked for {}, one in {:.0f} steps, {} of the time; ',
                            asked_runs, steps / asked_runs, pct(asked_ns / all_ns))
                    WHEN knows_who_asked THEN 'all of them automatic; '
                    ELSE ''
                END
        ELSE format('one in {:.0f} steps, {} each (median), {} the longest, {} per step; ',
            steps / pauses, ms(usual_ns), ms(longest_ns), ms(pause_ns))
    END AS evidence, -- what it rests on
    CASE
        WHEN 2 * asked_ns >= all_ns
            THEN 'remove gc.collect() from the training loop, or call it seldom, such as between epochs'
        WHEN measured AND NOT knows_who_asked
            THEN 'remove gc.collect() from the training loop; if there is none: gc.freeze(), then gc.disable()'
        ELSE 'gc.freeze() after start-up, then gc.disable() and gc.collect() where it does no harm, as between epochs'
    END AS advice, -- what to try
    format('zernel-analyze sql {{}} "FROM {}"',
        CASE WHEN measured THEN 'gc_runs ORDER BY dur_ns DESC LIMIT 10' ELSE 'pauses' END)
        AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE lost_ns >= thresholds.min_share * step_ns
