-- Stacks in which dropout is computed: the functions of its modules, and whether random numbers are drawn there.
--
-- needs: _stack_frames
CREATE TABLE _dropout_stacks AS
SELECT
    id, -- number of the stack
    bool_or(frame = 0 AND native AND regexp_matches(function, 'bernoulli|CPUGeneratorImpl|mt19937'))
        AS draws -- whether random numbers are drawn
FROM _stack_frames
GROUP BY id
HAVING bool_or(
    NOT native
    AND (file LIKE '%/torch/nn/modules/dropout.py'
        OR (file LIKE '%/torch/nn/functional.py' AND function LIKE '%dropout%'))
);

-- A model that is not trained is in training mode. Dropout is computed, and nothing goes backward.
--
-- Of processes without steps: samples of the threads that compute most, in modules that drop out, where random numbers
-- are drawn. In evaluation mode they draw none. What else training mode costs is not known: BatchNorm computes its
-- statistics, and what is kept for a backward pass takes memory. Results differ from call to call, too.
-- Does not apply to trainings, to recordings in which backward passes were not probed, nor to dropout that is wanted,
-- as to tell how sure a model is.
--
-- needs: _working_samples, _dropout_stacks, events, kinds
-- severity: high from 25 % of the time of these threads on a CPU in dropout, else medium
-- hint: module.training tells the mode of each
-- lines: the dropout WHERE thread = 'process' AND id IN (SELECT id FROM _dropout_stacks)
WITH
    thresholds AS (
        SELECT
            3 AS min_draws, -- samples that draw random numbers
            0.01 AS min_share, -- of the time on a CPU, in dropout
            0.25 AS high_share -- for high severity
    ),
    sums AS (
        SELECT
            samples.recording,
            samples.pid,
            count(*) AS samples,
            count_if(dropout.draws) AS draws,
            sum(samples.ns) AS cpu_ns,
            coalesce(sum(samples.ns) FILTER (dropout.id IS NOT NULL), 0) AS dropout_ns,
            dropout_ns / sum(samples.ns) AS share
        FROM _working_samples AS samples
        LEFT JOIN _dropout_stacks AS dropout ON dropout.id = samples.id
        GROUP BY samples.recording, samples.pid
    )
SELECT
    sums.recording, -- recording
    sums.pid, -- process
    round(100 * share, 1) AS value, -- percent of its time on a CPU
    '% of its time on a CPU in dropout' AS unit, -- unit of value
    CASE WHEN share >= high_share THEN 'high' ELSE 'medium' END AS severity, -- high or medium
    format('{:.2f} s of {:.2f} s on a CPU in dropout, which draws random numbers in {} of {} samples; '
        || 'nothing goes backward; what else training mode costs is not in it',
        dropout_ns / 1e9, cpu_ns / 1e9, draws, samples) AS evidence, -- what it rests on
    'model.eval() once it is loaded, and torch.inference_mode() around what it answers; unless dropout is wanted'
        AS advice, -- what to try
    'zernel-analyze stacks {}' AS next_command -- to see more
FROM sums
CROSS JOIN thresholds
SEMI JOIN (SELECT recording FROM kinds WHERE kind = 'backward' AND state = 'attached') AS probed
    ON probed.recording = sums.recording
ANTI JOIN (SELECT recording, pid FROM events WHERE kind = 'backward') AS passes
    ON passes.recording = sums.recording AND passes.pid = sums.pid
WHERE draws >= min_draws AND share >= min_share
