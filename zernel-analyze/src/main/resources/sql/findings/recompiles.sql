-- The job compiles again while it trains. Later steps compile for the GPU or capture CUDA graphs, and take longer.
--
-- A compiler specializes on what it has seen, such as the shape of a batch, and starts again for another one. Steps
-- that compile are of kind warmup and in no other mean, so here the mean is of steps of kind train and of these.
-- Counted is their time over the median step of kind train.
-- Does not apply to the steps before the first one of kind train, nor to one or two later ones: a last batch of another
-- size compiles once.
--
-- needs: steps
-- severity: high from 25 % of step time, medium from 10 %
-- hint: TORCH_LOGS=recompiles says which input changed; JAX says it with jax_log_compiles
-- lines: what they have more BY excess_ns WHERE thread = 'training' AND step_class IN ('train', 'compile')
WITH
    thresholds AS (
        SELECT
            3 AS min_compiles, -- steps that compile, after the first one of kind train
            0.02 AS min_share -- what can be saved, as a share of step time
    ),
    trained AS (
        SELECT
            recording,
            pid,
            tid,
            min(step) AS first_step,
            count(*) AS steps,
            sum(dur_ns) AS all_ns,
            median(dur_ns) AS median_ns
        FROM steps
        WHERE step_kind = 'train'
        GROUP BY ALL
    ),
    compiled AS (
        SELECT
            steps.recording,
            steps.pid,
            steps.tid,
            count(*) AS compiles,
            sum(steps.dur_ns) AS all_ns,
            sum(steps.dur_ns - trained.median_ns) AS excess_ns,
            max(steps.dur_ns) AS longest_ns
        FROM steps
        JOIN trained ON trained.recording = steps.recording AND trained.pid = steps.pid AND trained.tid = steps.tid
        WHERE steps.step_kind = 'warmup' AND steps.step > trained.first_step
        GROUP BY steps.recording, steps.pid, steps.tid
    ),
    costs AS (
        SELECT
            compiled.recording,
            compiled.pid,
            compiled.tid,
            compiled.compiles,
            compiled.longest_ns,
            trained.median_ns,
            trained.steps + compiled.compiles AS steps,
            (trained.all_ns + compiled.all_ns) / (trained.steps + compiled.compiles) AS step_ns,
            compiled.excess_ns / (trained.steps + compiled.compiles) AS lost_ns
        FROM compiled
        JOIN trained
            ON trained.recording = compiled.recording
            AND trained.pid = compiled.pid
            AND trained.tid = compiled.tid
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    compiles AS value, -- steps that compile
    format('of {} steps', steps) AS unit, -- unit of value
    step_ns, -- [ns] step
    lost_ns, -- [ns] excess spread over all steps
    lost_ns AS bound_ns, -- [ns] saved at most, when they take the median
    format('each takes {} more than the median of {}, the longest {}; {} of the mean of steps with these, {}; ',
        ms(lost_ns * steps / compiles), ms(median_ns), ms(longest_ns), ms(lost_ns), ms(step_ns))
        AS evidence, -- what it rests on
    'say what changes: torch.compile(dynamic=True) or torch._dynamo.mark_dynamic; or pad to a few shapes'
        AS advice, -- what to try
    'zernel-analyze steps --slowest 10 {}' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE compiles >= thresholds.min_compiles AND lost_ns >= thresholds.min_share * step_ns
