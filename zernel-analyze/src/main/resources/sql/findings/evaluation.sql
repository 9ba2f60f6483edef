-- Evaluation takes much of the time. Between training steps, passes over data are made in which nothing is learned.
--
-- Counted is the wall time of these passes, with the start of their workers, spread over the training steps. It is no
-- part of the mean step of the report's headline; put beside it, both make the time of a step that the job feels.
-- Does not apply to processes that only evaluate.
--
-- needs: evaluations
-- severity: medium from 40 % of wall time, else low: evaluation may be wanted
-- hint: `zernel-analyze steps` lists the steps of kind evaluation, each with the loop before it
-- lines: the evaluation WHERE thread = 'training' AND evaluates
WITH
    thresholds AS (
        SELECT
            0.2 AS min_share, -- of wall time
            0.4 AS much_share -- of wall time, from which on it is medium
    ),
    costs AS (
        SELECT
            recording,
            pid,
            tid,
            evaluations,
            mean_ns,
            share,
            steps,
            step_ns,
            total_ns / steps AS lost_ns,
            step_ns + total_ns / steps AS all_ns
        FROM evaluations
        WHERE steps > 0 AND step_ns IS NOT NULL
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    round(100 * share, 1) AS value, -- share of wall time
    '% of wall time' AS unit, -- unit of value
    CASE WHEN share >= much_share THEN 'medium' ELSE 'low' END AS severity, -- medium or low
    all_ns AS step_ns, -- [ns] step, with its part of the evaluation
    lost_ns, -- [ns] evaluation spread over all training steps
    lost_ns AS bound_ns, -- [ns] saved at most, without evaluation
    format('{} evaluation{} of {}; {} for each of {} training steps, in addition to their mean of {}; ',
        evaluations, CASE WHEN evaluations = 1 THEN '' ELSE 's' END, ms(mean_ns), ms(lost_ns), steps, ms(step_ns))
        AS evidence, -- what it rests on
    'evaluate less often or on fewer batches, under torch.inference_mode(), with a larger batch'
        AS advice, -- what to try
    'zernel-analyze steps --slowest 10 {}' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE share >= min_share
