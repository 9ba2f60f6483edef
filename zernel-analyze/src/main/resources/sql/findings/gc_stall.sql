-- Training stops now and then, on the CPU and outside every call. Python pauses such as garbage collection do that.
--
-- Counted are stretches of slow steps in which nothing was called, beyond what is usual (view pauses). Lost is their
-- time, at most as the GPU is idle by the driver's samples: what is still queued runs meanwhile.
-- Does not apply to pauses in steps that open a checkpoint (checkpoint_stall), to time off the CPU (cpu_preempted), to
-- pauses in every step, which are no pauses but work (unexplained_time), nor to jobs that launch nothing on a GPU.
--
-- needs: pauses, steps, gpu_busy, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: gc.callbacks tell when it runs; --probe 'libpython3.12.so:gc_collect_main' (or your version) records it
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
    paused AS (
        SELECT
            pauses.recording,
            pauses.pid,
            pauses.tid,
            count(*) AS pauses,
            sum(pauses.dur_ns) / any_value(trained.steps) AS pause_ns,
            median(pauses.dur_ns) AS usual_ns,
            max(pauses.dur_ns) AS longest_ns,
            any_value(trained.steps) AS steps,
            any_value(trained.step_ns) AS step_ns
        FROM pauses
        JOIN trained
            ON trained.recording = pauses.recording
            AND trained.pid = pauses.pid
            AND trained.tid = pauses.tid
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
    thread_label(recording, pid, tid) AS subject, -- training thread
    pauses AS value, -- pauses
    format('pauses in {} steps', steps) AS unit, -- unit of value
    severity_of(least_lost(lost_ns, least_idle_ns) / step_ns) AS severity, -- high, medium or low
    round(lost_ns / 1e6, 3) AS lost_ms_per_step, -- [ms] pauses spread over all steps
    speedup(step_ns, bound_ns) AS max_speedup, -- bound when there are none
    format('one in {:.0f} steps, {} each (median), {} the longest, {} per step; ',
        steps / pauses, ms(usual_ns), ms(longest_ns), ms(pause_ns))
        || unsampled_text(lost_ns, least_idle_ns, bound_ns)
        || bound_text(step_ns, bound_ns) AS evidence, -- what it rests on
    'gc.freeze() after start-up, then gc.disable() and gc.collect() at a moment of your own, such as between epochs'
        AS advice, -- what to try
    format('zernel-analyze sql {} "FROM pauses"', file_label(recording)) AS next_command, -- to see more
    round(least_lost(lost_ns, least_idle_ns) / 1e6, 3)
        AS least_lost_ms_per_step -- [ms] lost_ms_per_step at least, without samples of the GPU
FROM costs
CROSS JOIN thresholds
WHERE lost_ns >= thresholds.min_share * step_ns
ORDER BY least_lost_ms_per_step DESC, lost_ms_per_step DESC, subject
LIMIT 20
