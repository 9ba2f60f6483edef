-- Steps take longer and longer. Something grows that each step goes through, and no speed of the start comes back.
--
-- Counted is what the mean step takes longer than the median one of the first tenth; at most, than one before it grew,
-- as those have grown, too. The phase named is the one that grew most between the first and the last tenth.
-- Does not apply to steps that take longer from one step on: see slow_steps.
--
-- needs: steps, step_trends, phase_words
-- severity: high from 25 % of step time, medium from 10 %
-- hint: `zernel-analyze steps` lists every step with its phases
-- lines: what the last quarter of steps has more BY growth_ns WHERE thread = 'training' AND growth_ns IS NOT NULL
WITH
    thresholds AS (
        SELECT
            0.02 AS min_share, -- what is lost, as a share of step time
            0.1 AS ends -- share of the steps at the begin and at the end that phases are compared of
    ),
    placed AS (
        SELECT
            steps.*,
            percent_rank() OVER (PARTITION BY steps.recording, steps.pid, steps.tid ORDER BY steps.step) AS place
        FROM steps
        SEMI JOIN step_trends AS trends
            ON trends.recording = steps.recording
            AND trends.pid = steps.pid
            AND trends.tid = steps.tid
        WHERE steps.step_kind = 'train'
    ),
    parts AS (
        UNPIVOT (
            SELECT
                recording,
                pid,
                tid,
                place >= 1 - thresholds.ends AS is_last,
                avg(data_loading_ns) AS DataLoading,
                avg(gpu_compute_ns) AS GpuCompute,
                avg(nccl_collective_ns) AS NcclCollective,
                avg(optimizer_step_ns) AS OptimizerStep,
                avg(unknown_ns) AS Unknown
            FROM placed
            CROSS JOIN thresholds
            WHERE place <= thresholds.ends OR place >= 1 - thresholds.ends
            GROUP BY recording, pid, tid, is_last
        ) ON DataLoading, GpuCompute, NcclCollective, OptimizerStep, Unknown INTO NAME phase VALUE ns
    ),
    grown AS (
        SELECT recording, pid, tid, phase, sum(CASE WHEN is_last THEN ns ELSE -ns END) AS more_ns
        FROM parts
        GROUP BY ALL
    ),
    most AS (
        SELECT recording, pid, tid, arg_max(phase, more_ns) AS phase, max(more_ns) AS more_ns
        FROM grown
        GROUP BY ALL
    ),
    costs AS (
        SELECT *, mean_ns - first_ns AS lost_ns
        FROM step_trends
    )
SELECT
    costs.recording, -- recording
    costs.pid, -- process
    costs.tid, -- training thread
    round(costs.last_ns / costs.first_ns, 2) AS value, -- median step of the last tenth by that of the first
    'times as long at the end' AS unit, -- unit of value
    costs.mean_ns AS step_ns, -- [ns] mean step
    costs.lost_ns, -- [ns] by which it is over the median of the first tenth
    costs.mean_ns - costs.start_ns AS bound_ns, -- [ns] saved at most, when steps stay as they were before
    format('{} in the first tenth of {} steps, {} in the last (medians); 100 steps later a step takes {} longer; '
            || '{} of what it takes longer: {}; ',
        ms(costs.first_ns), costs.steps, ms(costs.last_ns), ms(100 * costs.per_step_ns),
        pct(least(most.more_ns / (costs.last_ns - costs.first_ns), 1)), coalesce(words.words, most.phase))
        AS evidence, -- what it rests on
    'look for what grows: a graph that is kept (losses added up without detach(), retain_graph), a list or cache that '
    || 'each step goes through, hooks that each step adds' AS advice, -- what to try
    'zernel-analyze steps {}' AS next_command -- to see more
FROM costs
JOIN most ON most.recording = costs.recording AND most.pid = costs.pid AND most.tid = costs.tid
LEFT JOIN phase_words AS words
    ON words.recording = costs.recording
    AND words.pid = costs.pid
    AND words.phase = most.phase
CROSS JOIN thresholds
WHERE costs.lost_ns >= thresholds.min_share * costs.mean_ns
