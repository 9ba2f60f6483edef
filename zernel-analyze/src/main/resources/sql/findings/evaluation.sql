-- Evaluation takes much of the time. Between training steps, passes over data are made in which nothing is learned.
--
-- Counted is the wall time of these passes, with the start of their workers, spread over the training steps. It is no
-- part of the mean step of the report's headline; put beside it, both make the time of a step that the job feels.
-- Where no other rank of the job evaluates, they wait for this one at the next collective, and can share in it.
-- Does not apply to processes that only evaluate.
--
-- needs: evaluations, training_threads, _rank_jobs, _ranked
-- severity: medium from 40 % of wall time, or 20 % where other ranks wait; else low: evaluation may be wanted
-- hint: `zernel-analyze steps` lists the steps of kind evaluation, each with the loop before it
-- lines: the evaluation WHERE thread = 'training' AND evaluates
WITH
    thresholds AS (
        SELECT
            0.2 AS min_share, -- of wall time
            0.4 AS much_share -- of wall time, from which on it is medium
    ),
    -- Ranks of each job, and those that evaluate.
    jobs AS (
        SELECT jobs.job, count(*) AS ranks, count(evaluating.pid) AS evaluating
        FROM _rank_jobs AS jobs
        SEMI JOIN _ranked AS ranks ON ranks.recording = jobs.recording AND ranks.pid = jobs.pid
        SEMI JOIN training_threads AS training ON training.recording = jobs.recording AND training.pid = jobs.pid
        LEFT JOIN (SELECT DISTINCT recording, pid FROM evaluations) AS evaluating
            ON evaluating.recording = jobs.recording
            AND evaluating.pid = jobs.pid
        GROUP BY jobs.job
    ),
    alone AS (
        SELECT members.recording, members.pid, jobs.ranks - 1 AS others
        FROM jobs
        JOIN _rank_jobs AS members ON members.job = jobs.job
        SEMI JOIN _ranked AS ranks ON ranks.recording = members.recording AND ranks.pid = members.pid
        WHERE jobs.evaluating = 1
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
    CASE WHEN share >= much_share OR others > 0 THEN 'medium' ELSE 'low' END AS severity, -- medium or low
    all_ns AS step_ns, -- [ns] step, with its part of the evaluation
    lost_ns, -- [ns] evaluation spread over all training steps
    lost_ns AS bound_ns, -- [ns] saved at most, without evaluation
    format('{} evaluation{} of {}; {} for each of {} training steps, in addition to their mean of {}; ',
        evaluations, CASE WHEN evaluations = 1 THEN '' ELSE 's' END, ms(mean_ns), ms(lost_ns), steps, ms(step_ns))
        || CASE
            WHEN others = 1 THEN 'of the other rank no evaluation was seen; '
            WHEN others > 1 THEN format('of the other {} ranks no evaluation was seen; ', others)
            ELSE ''
        END AS evidence, -- what it rests on
    CASE
        WHEN others > 0
            THEN 'share the evaluation with the other ranks: a part of the data for each (DistributedSampler), and one '
                || 'all_reduce of the counts; or evaluate less often'
        ELSE 'evaluate less often or on fewer batches, under torch.inference_mode(), with a larger batch'
    END AS advice, -- what to try
    'zernel-analyze steps --slowest 10 {}' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
LEFT JOIN alone USING (recording, pid)
WHERE share >= min_share
