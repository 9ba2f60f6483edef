-- Much is computed after the optimizer, where nothing is trained. Each step goes on with operators of PyTorch there.
--
-- Typical are metrics: a second forward pass for the accuracy, though training has just had one, sorting, distances,
-- a copy of the model that follows it. By traces of jobs on CPUs, whose steps a range `ProfilerStep` tells: counted are
-- operators that no other calls between the last `Optimizer.step` of a step and its end.
-- Does not apply to recordings (cpu_between_calls, evaluation), to traces of jobs on GPUs, to steps that are told by
-- their optimizer, as what comes after it begins the next, nor where a backward pass comes after the optimizer, or the
-- forward pass, as next to none is before the backward pass then.
--
-- needs: _operator_times, _step_spans
-- severity: high from 25 % of step time, medium from 10 %
-- hint: profile with with_stack=True: then the finding names the function
WITH
    thresholds AS (
        SELECT
            2 AS min_steps, -- steps of kind train
            0.05 AS min_share, -- of the step, after the optimizer
            0.1 AS min_before, -- the same, before the backward pass: the forward pass is there
            0.9 AS min_with -- of the steps, that have an optimizer, a backward pass before it, and none after it
    ),
    times AS (
        SELECT
            *,
            coalesce(kind = 'backward' OR starts_with(operator, 'autograd::engine::evaluate_function'), FALSE)
                AS is_backward,
            max(CASE WHEN kind = 'region' AND starts_with(operator, 'Optimizer.step#') THEN at_ns + dur_ns END)
                OVER step AS trained_ns,
            min(CASE WHEN is_backward THEN at_ns END) OVER step AS first_backward_ns,
            max(CASE WHEN is_backward THEN at_ns END) OVER step AS last_backward_ns
        FROM in_spans(_operator_times, _step_spans)
        WHERE trains AND operator IS NOT NULL
        WINDOW step AS (PARTITION BY recording, pid, step)
    ),
    one_by_one AS (
        SELECT
            recording,
            pid,
            any_value(tid) AS tid,
            step,
            any_value(until_ns - from_ns) AS step_ns,
            any_value(last_backward_ns < trained_ns) IS TRUE AS is_whole,
            sum(CASE WHEN kind = 'torch_op' AND at_ns < first_backward_ns THEN dur_ns ELSE 0 END) AS before_ns,
            sum(CASE WHEN kind = 'torch_op' AND at_ns >= trained_ns THEN dur_ns ELSE 0 END) AS after_ns
        FROM times
        GROUP BY recording, pid, step
    ),
    sums AS (
        SELECT
            recording,
            pid,
            any_value(tid) AS tid,
            count(*) AS steps,
            avg(step_ns) AS step_ns,
            avg(before_ns) AS before_ns,
            avg(after_ns) AS after_ns,
            avg(CAST(is_whole AS INTEGER)) AS whole
        FROM one_by_one
        GROUP BY recording, pid
    ),
    most AS (
        SELECT
            recording,
            pid,
            arg_max(operator, (ns, operator)) AS operator,
            max(ns) AS operator_ns,
            arg_max(function, (function_ns, function)) AS function
        FROM (
            SELECT
                recording,
                pid,
                operator,
                function,
                sum(sum(dur_ns)) OVER (PARTITION BY recording, pid, operator) AS ns,
                sum(sum(dur_ns)) OVER (PARTITION BY recording, pid, function) AS function_ns
            FROM times
            WHERE kind = 'torch_op' AND at_ns >= trained_ns
            GROUP BY recording, pid, operator, function
        )
        GROUP BY recording, pid
    )
SELECT
    sums.recording, -- recording
    sums.pid, -- process
    sums.tid, -- training thread
    after_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    after_ns AS lost_ns, -- [ns] in operators after the optimizer
    after_ns AS bound_ns, -- [ns] saved at most: all of it
    format('mean of {} steps: {} of {} in operators after the optimizer, {} of it in {}', steps, us_or_ms(after_ns),
        us_or_ms(step_ns), us_or_ms(most.operator_ns / steps), most.operator)
        || coalesce('; most in ' || most.function, '')
        || format('; the forward pass takes {} before it; ', us_or_ms(before_ns)) AS evidence, -- what it rests on
    'metrics of the outputs that training has anyway, not of a second forward pass; and not in each step'
        AS advice, -- what to try
    'zernel-analyze export --perfetto {}' AS next_command -- to see more
FROM sums
JOIN most ON most.recording = sums.recording AND most.pid = sums.pid
CROSS JOIN thresholds
WHERE steps >= min_steps
    AND whole >= min_with
    AND before_ns >= min_before * step_ns
    AND after_ns >= min_share * step_ns
