-- Training stops to write checkpoints. Steps in which a checkpoint file is opened take longer than the others.
--
-- Counted is the time of these steps over the median step. A file is taken for a checkpoint by its name: `.pt`, `.pth`,
-- `.ckpt`, `.safetensors`, `.distcp`, or `checkpoint` in its path.
-- Does not apply to files that are opened in steps of normal length, such as data sets of `.pt` files.
--
-- needs: events, steps, files
-- severity: high from 25 % of step time, medium from 10 %
-- hint: a checkpoint that is written while training goes on costs only the copy to the host
WITH
    thresholds AS (
        SELECT
            10 AS min_steps, -- steps after the first
            0.3 AS min_excess, -- of a step with a checkpoint, as a share of the median step
            0.01 AS min_share -- excess of all of them, as a share of all step time
    ),
    opened AS (
        SELECT recording, pid, tid, ts_ns, path
        FROM events
        WHERE kind = 'io_open'
            AND coalesce(status, 0) >= 0
            AND (
                regexp_matches(path, '\.(pt|pth|ckpt|safetensors|distcp)(\.tmp)?$')
                OR contains(lower(path), 'checkpoint')
            )
    ),
    hits AS (
        SELECT steps.recording, steps.pid, steps.tid, steps.step, any_value(opened.path) AS path
        FROM opened
        ASOF JOIN steps
            ON steps.recording = opened.recording
            AND steps.pid = opened.pid
            AND steps.tid = opened.tid
            AND steps.start_ns <= opened.ts_ns
        WHERE opened.ts_ns < steps.end_ns AND steps.step > 1
        GROUP BY ALL
    ),
    medians AS (
        SELECT recording, pid, tid, count(*) AS steps, sum(dur_ns) AS all_ns, median(dur_ns) AS median_ns
        FROM steps
        WHERE step > 1
        GROUP BY ALL
    ),
    stalls AS (
        SELECT
            steps.recording,
            steps.pid,
            steps.tid,
            count(*) AS stalls,
            sum(steps.dur_ns - medians.median_ns) AS excess_ns,
            any_value(medians.steps) AS steps,
            any_value(medians.all_ns) AS all_ns,
            any_value(medians.median_ns) AS median_ns,
            min(hits.path) AS path
        FROM hits
        JOIN steps
            ON steps.recording = hits.recording
            AND steps.pid = hits.pid
            AND steps.tid = hits.tid
            AND steps.step = hits.step
        JOIN medians
            ON medians.recording = hits.recording
            AND medians.pid = hits.pid
            AND medians.tid = hits.tid
        CROSS JOIN thresholds
        WHERE medians.steps >= thresholds.min_steps
            AND steps.dur_ns >= (1 + thresholds.min_excess) * medians.median_ns
        GROUP BY steps.recording, steps.pid, steps.tid
    )
SELECT
    thread_label(recording, pid, tid) AS subject, -- training thread
    stalls AS value, -- steps with a checkpoint
    format('of {} steps', steps) AS unit, -- unit of value
    severity_of(excess_ns / all_ns) AS severity, -- high, medium or low
    round(excess_ns / steps / 1e6, 3) AS lost_ms_per_step, -- [ms] excess spread over all steps
    round(all_ns / greatest(all_ns - excess_ns, 1), 2) AS max_speedup, -- bound when they cost nothing
    format('{} over the median step of {} each; file {}; ', ms(excess_ns / stalls), ms(median_ns), path)
        || bound_text(all_ns / steps, excess_ns / steps) AS evidence, -- what it rests on
    'write beside training: torch.distributed.checkpoint.async_save, or a thread that saves a copy on the host'
        AS advice, -- what to try
    format('zernel-analyze steps --slowest 10 {}', file_label(recording)) AS next_command -- to see more
FROM stalls
CROSS JOIN thresholds
WHERE excess_ns >= thresholds.min_share * all_ns
ORDER BY lost_ms_per_step DESC, subject
LIMIT 20
