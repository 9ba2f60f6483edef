-- Steps stop to wait for the GPU. After each wait the GPU has nothing to do until the next launch arrives.
--
-- Typical is `.item()`, `.cpu()`, a mask as an index, or printing a tensor inside the step: a copy to the host, or a
-- sync. Without the waits the thread is ahead by as much, until the GPU is always busy: where a trace or the driver's
-- samples say how long the GPU is idle, lost is the lesser of the two; by a trace, without the time in which it copies
-- what it needs, since that is what the waits wait for. Where nothing does, or the GPU may be the limit
-- (gpu_limit), it is the time from the return of a wait to the next launch, wait for data, or end of the step, at most
-- as long as the waits: the CPU does not get faster; a gap counts twice the usual at most, so that rare stalls after a
-- wait (checkpoint, garbage collection) are left to their own findings. The bound is for waits that vanish.
-- Where launches were recorded in windows, gaps are those of detailed steps.
-- Does not apply to waits for a collective, nor where no launches were recorded, or only a sample of them; where the
-- GPU may be the limit, or without samples, not to one wait at the end of a step with nothing after it.
--
-- needs: _syncs, _sampled, _launched, data_wait, step_work, _step_spans, gpu_busy, gpu_limit, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: the view syncs lists the functions; torch.cuda.set_sync_debug_mode("warn") names the line
-- lines: the waits for the GPU WHERE thread = 'training' AND step_kind = 'train' AND part = 'gpu_wait'
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            3 AS min_detailed, -- of them, steps whose launches are known
            2 AS min_traced_steps, -- steps of kind train of a trace
            0.05 AS min_share, -- what can be saved, as a share of step time
            2 AS max_usual -- times the usual gap (75th percentile) that one can count
    ),
    blocked AS (
        SELECT recording, pid, tid AS caller, start_ns AS at_ns, end_ns, dur_ns
        FROM _syncs
        WHERE NOT for_collective
    ),
    waits AS (
        SELECT recording, pid, at_ns AS start_ns, end_ns, dur_ns, step, until_ns AS step_end_ns, detailed
        FROM in_spans(blocked, _step_spans)
        WHERE caller = tid AND trains
    ),
    work AS (
        SELECT
            recording,
            pid,
            any_value(tid) AS tid,
            count(*) AS steps,
            count(launches) AS detailed_steps,
            coalesce(sum(launches + graph_launches), 0) AS launches,
            sum(dur_ns) AS all_ns
        FROM step_work
        WHERE step_kind = 'train'
        GROUP BY recording, pid
    ),
    -- Where no more can be lost than is told of, launches are not looked at.
    suspects AS (
        SELECT work.recording, work.pid, sum(waits.dur_ns) AS blocked_ns
        FROM work
        JOIN waits ON waits.recording = work.recording AND waits.pid = work.pid
        LEFT JOIN gpu_busy AS busy ON busy.recording = work.recording AND busy.pid = work.pid
        CROSS JOIN thresholds
        WHERE work.launches > 0 AND work.recording NOT IN (SELECT recording FROM _sampled WHERE kind = 'cuda_launch')
        GROUP BY work.recording, work.pid
        HAVING least(sum(waits.dur_ns) / any_value(work.steps), any_value(busy.idle_ns - coalesce(busy.feeding_ns, 0)))
            >= any_value(thresholds.min_share * work.all_ns / work.steps)
    ),
    enqueued AS (
        SELECT _launched.recording, _launched.pid, _launched.at_ns
        FROM _launched
        JOIN suspects ON suspects.recording = _launched.recording AND suspects.pid = _launched.pid
    ),
    loads AS (
        SELECT recording, pid, start_ns
        FROM data_wait
    ),
    limited AS (
        SELECT
            waits.recording,
            waits.pid,
            waits.step,
            waits.end_ns,
            waits.dur_ns,
            least(waits.step_end_ns, coalesce(loads.start_ns, waits.step_end_ns)) AS until_ns
        FROM waits
        JOIN suspects ON suspects.recording = waits.recording AND suspects.pid = waits.pid
        ASOF LEFT JOIN loads
            ON loads.recording = waits.recording
            AND loads.pid = waits.pid
            AND loads.start_ns >= waits.end_ns
        WHERE waits.detailed
    ),
    -- From the return of a wait to where the next launch must be.
    searched AS (
        SELECT recording, pid, end_ns AS from_ns, until_ns
        FROM limited
        WHERE until_ns > end_ns
    ),
    followed AS (
        SELECT recording, pid, from_ns AS end_ns, min(at_ns) AS launch_ns
        FROM in_spans(enqueued, searched)
        GROUP BY ALL
    ),
    stops AS (
        SELECT
            limited.recording,
            limited.pid,
            limited.step,
            coalesce(followed.launch_ns, limited.until_ns) AS launch_ns,
            max(limited.end_ns) AS end_ns,
            sum(limited.dur_ns) AS blocked_ns
        FROM limited
        LEFT JOIN followed
            ON followed.recording = limited.recording
            AND followed.pid = limited.pid
            AND followed.end_ns = limited.end_ns
        GROUP BY ALL
    ),
    gaps AS (
        SELECT recording, pid, step, blocked_ns, greatest(launch_ns - end_ns, 0) AS idle_ns
        FROM stops
    ),
    usual AS (
        SELECT recording, pid, quantile_cont(idle_ns, 0.75) AS gap_ns
        FROM gaps
        GROUP BY ALL
    ),
    idle AS (
        SELECT
            gaps.recording,
            gaps.pid,
            count(*) AS stops,
            sum(least(gaps.idle_ns, thresholds.max_usual * usual.gap_ns)) AS idle_ns
        FROM gaps
        JOIN usual ON usual.recording = gaps.recording AND usual.pid = gaps.pid
        CROSS JOIN thresholds
        GROUP BY ALL
    ),
    costs AS (
        SELECT
            work.recording,
            work.pid,
            work.tid,
            work.steps,
            work.detailed_steps,
            work.all_ns / work.steps AS step_ns,
            idle.stops / work.detailed_steps AS stops,
            idle.idle_ns / work.detailed_steps AS idle_ns,
            suspects.blocked_ns / work.steps AS blocked_ns,
            CASE
                WHEN busy.busy IS NOT NULL AND limited.pid IS NULL
                    THEN least(suspects.blocked_ns / work.steps, busy.idle_ns - coalesce(busy.feeding_ns, 0))
                ELSE least(
                    idle.idle_ns / work.detailed_steps,
                    suspects.blocked_ns / work.steps,
                    busy.idle_ns - coalesce(busy.feeding_ns, 0)
                )
            END AS lost_ns,
            CASE
                WHEN busy.busy IS NOT NULL AND limited.pid IS NULL
                    THEN least(suspects.blocked_ns / work.steps, (1 - busy.most_train_busy) * work.all_ns / work.steps)
            END AS sampled_least_ns,
            least(suspects.blocked_ns / work.steps, busy.most_idle_ns - coalesce(busy.feeding_ns, 0)) AS bound_ns,
            busy.least_idle_ns
        FROM idle
        JOIN work ON work.recording = idle.recording AND work.pid = idle.pid
        JOIN suspects ON suspects.recording = idle.recording AND suspects.pid = idle.pid
        LEFT JOIN gpu_busy AS busy ON busy.recording = idle.recording AND busy.pid = idle.pid
        CROSS JOIN thresholds
        LEFT JOIN gpu_limit AS limited
            ON limited.recording = work.recording
            AND limited.pid = work.pid
            AND limited.limits = 'gpu'
        WHERE CASE
            WHEN work.recording IN (SELECT recording FROM files WHERE state = 'trace')
                THEN work.steps >= thresholds.min_traced_steps
            ELSE work.steps >= thresholds.min_steps AND work.detailed_steps >= thresholds.min_detailed
        END
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that waits
    round(stops, 1) AS value, -- stops per step
    CASE WHEN round(stops, 1) = 1 THEN 'stop per step' ELSE 'stops per step' END AS unit, -- unit of value
    step_ns, -- [ns] step
    lost_ns, -- [ns] from waits to the next launch
    bound_ns, -- [ns] saved at most, when the waits vanish
    coalesce(sampled_least_ns, least_lost(lost_ns, least_idle_ns)) AS least_lost_ns, -- [ns] lost at least
    least_idle_ns, -- [ns] the GPU is idle at least, without samples
    CASE WHEN detailed_steps < steps THEN detailed_steps END AS detailed_steps, -- steps whose launches are known
    format('mean of {} steps: blocked {} for the GPU in {:.1f} stops, then {} until the next launch; ',
        steps, ms(blocked_ns), stops, ms(idle_ns))
        || CASE
            WHEN detailed_steps < steps
                THEN format('stops and launches of {} detailed steps of {}; ', detailed_steps, steps)
            ELSE ''
        END AS evidence, -- what it rests on
    'do not read results inside the step: collect costs on the GPU and call .item() every 50 steps, '
        || 'no print of tensors, non_blocking=True, masks as factors instead of indices' AS advice, -- what to try
    'zernel-analyze sql {} "FROM syncs"' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE lost_ns >= thresholds.min_share * step_ns
