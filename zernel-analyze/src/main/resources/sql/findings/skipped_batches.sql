-- Batches are loaded and not used. The training passes over them, as a run that goes on where it stopped.
--
-- Counted is the wall time of passes between training steps, and before the first, that only wait for batches, spread
-- over the training steps. It is no part of the mean step of the report's headline.
-- Does not apply to passes that compute something with their batches (evaluation).
--
-- needs: _evaluations, training_threads, steps
-- severity: high from 25 % of wall time, medium from 10 %
-- hint: `zernel-analyze steps` lists the steps, each with the pass before it
-- lines: the loading WHERE thread = 'training' AND evaluates
WITH
    thresholds AS (
        SELECT
            0.05 AS min_share, -- of wall time
            10 AS min_batches, -- that are passed over
            0.25 AS high_share, -- of wall time, for high severity
            0.1 AS medium_share -- of wall time, for medium severity
    ),
    trained AS (
        SELECT recording, pid, tid, count(*) AS steps
        FROM steps
        WHERE step_kind <> 'warmup'
        GROUP BY ALL
    ),
    skipped AS (
        SELECT recording, pid, tid, count(*) AS passes, sum(batches) AS batches, sum(end_ns - start_ns) AS skipped_ns
        FROM _evaluations
        CROSS JOIN thresholds
        WHERE skips AND batches >= thresholds.min_batches
        GROUP BY ALL
    ),
    costs AS (
        SELECT
            skipped.*,
            trained.steps,
            threads.wall_ns,
            threads.steady_ns / threads.steady_steps AS step_ns,
            skipped.skipped_ns / trained.steps AS lost_ns
        FROM skipped
        JOIN trained
            ON trained.recording = skipped.recording
            AND trained.pid = skipped.pid
            AND trained.tid = skipped.tid
        JOIN training_threads AS threads
            ON threads.recording = skipped.recording
            AND threads.pid = skipped.pid
            AND threads.tid = skipped.tid
        WHERE threads.steady_steps > 0
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    round(100 * skipped_ns / wall_ns, 1) AS value, -- share of wall time
    '% of wall time' AS unit, -- unit of value
    CASE
        WHEN skipped_ns >= high_share * wall_ns THEN 'high'
        WHEN skipped_ns >= medium_share * wall_ns THEN 'medium'
        ELSE 'low'
    END AS severity, -- high, medium or low
    step_ns + lost_ns AS step_ns, -- [ns] step, with its part of these passes
    lost_ns, -- [ns] these passes spread over all training steps
    lost_ns AS bound_ns, -- [ns] saved at most, without them
    format('{} batches in {} pass{} of {:.2f} s together, nearly all of it waiting for them; ',
        batches, passes, CASE WHEN passes = 1 THEN '' ELSE 'es' END, skipped_ns / 1e9)
        || format('{} for each of {} training steps, in addition to their mean of {}; ',
            ms(lost_ns), steps, ms(costs.step_ns)) AS evidence, -- what it rests on
    'go on without loading what comes before: a sampler that starts there, a Subset of the rest, or the state of a '
        || 'StatefulDataLoader (torchdata), not a loop that passes over batches' AS advice, -- what to try
    'zernel-analyze steps --slowest 10 {}' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE skipped_ns >= min_share * wall_ns
