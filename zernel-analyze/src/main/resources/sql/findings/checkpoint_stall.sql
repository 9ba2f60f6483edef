-- Training stops to write checkpoints. Steps in which a checkpoint file is opened take longer than the others.
--
-- Counted is the time of these steps over the median step, at most as the GPU is idle by the driver's samples or copies
-- in them, which samples may take for work: what is still queued runs meanwhile. The view checkpoint_steps says what is
-- taken for a checkpoint.
-- Does not apply to files that are opened in steps of normal length, such as data sets of `.pt` files.
--
-- needs: checkpoint_steps, steps, step_work, gpu_busy, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: a checkpoint that is written while training goes on costs only the copy to the host
WITH
    thresholds AS (
        SELECT
            10 AS min_steps, -- steps, without warm-up
            0.3 AS min_excess, -- of a step with a checkpoint, as a share of the median step
            0.01 AS min_share -- what can be saved, as a share of step time
    ),
    medians AS (
        SELECT recording, pid, tid, count(*) AS steps, sum(dur_ns) AS all_ns, median(dur_ns) AS median_ns
        FROM steps
        WHERE step_kind <> 'warmup'
        GROUP BY ALL
    ),
    stalls AS (
        SELECT
            hits.recording,
            hits.pid,
            hits.tid,
            count(*) AS stalls,
            sum(hits.dur_ns - medians.median_ns) / any_value(medians.steps) AS excess_ns,
            coalesce(sum(work.copy_ns), 0) / any_value(medians.steps) AS copy_ns,
            any_value(medians.steps) AS steps,
            any_value(medians.all_ns / medians.steps) AS step_ns,
            any_value(medians.median_ns) AS median_ns,
            min(hits.path) AS path
        FROM checkpoint_steps AS hits
        JOIN medians
            ON medians.recording = hits.recording
            AND medians.pid = hits.pid
            AND medians.tid = hits.tid
        LEFT JOIN step_work AS work
            ON work.recording = hits.recording
            AND work.pid = hits.pid
            AND work.tid = hits.tid
            AND work.step = hits.step
        CROSS JOIN thresholds
        WHERE medians.steps >= thresholds.min_steps
            AND hits.dur_ns >= (1 + thresholds.min_excess) * medians.median_ns
        GROUP BY hits.recording, hits.pid, hits.tid
    ),
    costs AS (
        SELECT
            stalls.*,
            least(excess_ns, busy.idle_ns + copy_ns) AS lost_ns
        FROM stalls
        LEFT JOIN gpu_busy AS busy ON busy.recording = stalls.recording AND busy.pid = stalls.pid
    )
SELECT
    thread_label(recording, pid, tid) AS subject, -- training thread
    stalls AS value, -- steps with a checkpoint
    format('of {} steps', steps) AS unit, -- unit of value
    severity_of(lost_ns / step_ns) AS severity, -- high, medium or low
    round(lost_ns / 1e6, 3) AS lost_ms_per_step, -- [ms] excess spread over all steps
    speedup(step_ns, excess_ns) AS max_speedup, -- bound when they cost nothing
    format('each takes {} more than the median of {}: {} of the mean of all steps, {}; file {}; ',
        ms(excess_ns * steps / stalls), ms(median_ns), ms(excess_ns), ms(step_ns), path)
        || bound_text(step_ns, excess_ns) AS evidence, -- what it rests on
    'write beside training: torch.distributed.checkpoint.async_save, or a thread that saves a copy on the host'
        AS advice, -- what to try
    format('zernel-analyze steps --slowest 10 {}', file_label(recording)) AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE lost_ns >= thresholds.min_share * step_ns
ORDER BY lost_ms_per_step DESC, subject
LIMIT 20
