-- Samples of training threads in steps of training, and how many of them ran the user's own Python in a pass.
--
-- needs: _step_samples, _own_stacks
-- digest: kept
CREATE TABLE _pass_samples AS
SELECT
    samples.recording, -- recording
    samples.pid, -- process
    samples.tid, -- training thread
    count(*) AS samples, -- samples
    count(*) FILTER (samples.part = 'forward') AS forward, -- of them, those in forward passes
    count(*) FILTER (samples.part = 'forward' AND own.id IS NOT NULL)
        AS in_forward, -- of those, in the user's own Python
    count(*) FILTER (samples.part = 'backward') AS backward, -- of all, those in backward passes
    count(*) FILTER (samples.part = 'backward' AND own.in_torch) AS in_backward -- of those, in the user's own Python
FROM _step_samples AS samples
LEFT JOIN _own_stacks AS own ON own.id = samples.id
GROUP BY samples.recording, samples.pid, samples.tid;

-- Much of the forward or backward pass is Python code, in which no operator runs.
--
-- Typical are hooks of gradients that count or print, masks and indices made of Python's lists in `forward`, and
-- functions of autograd written in Python. What is lost is their share of the samples of the training thread, of the
-- time that a median step is on the CPU. Samples are few, so it is a range. Not counted is what such code calls of
-- PyTorch, nor what is in the C library, as that may be of an operator, nor that operators find their data in no cache:
-- at most saved is the time of the passes in which such code runs.
-- Of a profiler's trace it is the time in which operators or the backward pass run Python and no other operator runs,
-- but for waits, activation checkpointing and torch.compile; at most saved is all that such Python does. Without stacks
-- it is told of functions of autograd and hooks, by the operators that call them. What anomaly detection does in the
-- forward pass is inside operators then, so all of that pass is in the bound.
-- Does not apply to jobs that launch work on a GPU (host_bound), where time off the CPU was not recorded, to one late
-- rank of several (nccl_straggler), nor to a forward pass that no call shows, in a loop without a DataLoader
-- (cpu_between_calls).
--
-- needs: _between_calls, _pass_samples, _lateness, _operator_times, _step_spans, _trained, events
-- severity: high from 25 % of step time, else medium
-- hint: zernel-analyze stacks shows the whole stacks; flame graphs do, too
-- lines: that Python code WHERE in_pass
WITH
    thresholds AS (
        SELECT
            10 AS min_steps, -- steps of kind train
            2 AS min_traced_steps, -- the same of a trace
            20 AS min_samples, -- of the training thread, to tell the share of such code
            0.15 AS min_share, -- of the step
            0.1 AS least_share, -- of the step, at least
            1000000 AS min_ns, -- [ns] of it
            0.01 AS told_share, -- of the step, from which on a part of the cost is told
            0.5 AS checked_share, -- of the functions of a backward pass, whose results anomaly detection looks at
            0.5 AS late_share, -- of what is lost, by which a rank is late
            2 AS deviations -- standard deviations that the share may be wrong
    ),
    shares AS (
        SELECT
            medians.*,
            passes.samples,
            passes.forward,
            passes.in_forward,
            passes.backward,
            passes.in_backward,
            passes.in_forward + passes.in_backward AS found,
            found / passes.samples AS share,
            thresholds.deviations * sqrt(share * (1 - share) / passes.samples) AS error,
            medians.between_ns + medians.called_ns AS cpu_ns
        FROM _between_calls AS medians
        JOIN _pass_samples AS passes
            ON passes.recording = medians.recording
            AND passes.pid = medians.pid
            AND passes.tid = medians.tid
        CROSS JOIN thresholds
    ),
    costs AS (
        SELECT
            *,
            share * cpu_ns AS lost_ns,
            (if(in_forward > 0, forward, 0) + if(in_backward > 0, backward, 0)) / samples * cpu_ns AS bound_ns,
            least(share + error, bound_ns / cpu_ns) * cpu_ns AS most_ns,
            greatest(share - error, 0) * cpu_ns AS least_ns
        FROM shares
    ),
    traced_functions AS (
        SELECT
            recording,
            pid,
            function,
            coalesce(sum(dur_ns) FILTER (
                inside = 'python' OR inside = 'built in' AND NOT coalesce(regexp_matches(built_in, '\bwait\b'), FALSE)
            ), 0) AS python_ns,
            sum(dur_ns) AS all_ns
        FROM in_spans(_operator_times, _step_spans)
        WHERE trains AND inside IN ('python', 'built in', 'operator')
        GROUP BY ALL
    ),
    traced_sums AS (
        SELECT
            recording,
            pid,
            sum(python_ns) AS python_ns,
            sum(all_ns) AS all_ns,
            arg_max(function, (python_ns, function)) AS function,
            max(python_ns) FILTER (function IS NOT NULL) AS function_ns
        FROM traced_functions
        GROUP BY recording, pid
    ),
    -- Anomaly detection looks for NaN in what each function of the backward pass returns.
    checked AS (
        SELECT recording, pid, ts_ns AS at_ns, dur_ns, name
        FROM events
        WHERE kind = 'torch_op'
            AND (
                name IN ('aten::isnan', 'aten::_is_any_true')
                OR starts_with(name, 'autograd::engine::evaluate_function: ') AND NOT ends_with(name, 'AccumulateGrad')
            )
            AND recording IN (SELECT recording FROM _operator_times)
    ),
    checks AS (
        SELECT
            recording,
            pid,
            coalesce(sum(dur_ns) FILTER (starts_with(name, 'aten::')), 0) AS check_ns,
            count(*) FILTER (name = 'aten::isnan')
                >= thresholds.checked_share * count(*) FILTER (starts_with(name, 'autograd::')) AS detects
        FROM in_spans(checked, _step_spans)
        CROSS JOIN thresholds
        WHERE trains
        GROUP BY recording, pid, thresholds.checked_share
    ),
    forward_passes AS (
        SELECT recording, pid, sum(dur_ns) AS forward_ns
        FROM in_spans(_operator_times, _step_spans)
        WHERE trains AND kind = 'torch_op'
        GROUP BY recording, pid
    ),
    traced AS (
        SELECT
            trained.recording,
            trained.pid,
            trained.tid,
            trained.train_steps,
            trained.train_ns,
            coalesce(sums.python_ns, 0) / trained.train_steps AS python_ns,
            coalesce(sums.all_ns, 0) / trained.train_steps AS all_ns,
            sums.function,
            sums.function_ns / trained.train_steps AS function_ns,
            coalesce(starts_with(sums.function, 'torch/fx/traceback.py'), FALSE) AS is_told,
            coalesce(checks.detects AND checks.check_ns > 0, FALSE) OR is_told AS detects,
            if(detects, coalesce(checks.check_ns, 0), 0) / trained.train_steps AS check_ns,
            if(detects AND NOT is_told, passes.forward_ns, 0) / trained.train_steps AS forward_ns
        FROM _trained AS trained
        LEFT JOIN traced_sums AS sums ON sums.recording = trained.recording AND sums.pid = trained.pid
        LEFT JOIN checks ON checks.recording = trained.recording AND checks.pid = trained.pid
        LEFT JOIN forward_passes AS passes ON passes.recording = trained.recording AND passes.pid = trained.pid
        WHERE trained.train_steps > 0
    )
SELECT
    recording,
    pid,
    tid,
    python_ns + check_ns AS part_ns,
    train_ns AS step_ns,
    python_ns + check_ns AS lost_ns,
    all_ns + check_ns + forward_ns AS bound_ns,
    format('mean of {} steps of {}: ', train_steps, ms(train_ns))
        || concat_ws(
            '; ',
            CASE
                WHEN python_ns >= thresholds.told_share * train_ns
                    THEN format('{} in Python that operators or the backward pass run', ms(python_ns))
                        || coalesce(format(', {} of it in {}', ms(function_ns), function), '')
            END,
            CASE WHEN check_ns > 0 THEN format('{} in operators that look for NaN', ms(check_ns)) END
        )
        || '; with the profiler on, without which it is less; ' AS evidence,
    CASE
        WHEN detects
            THEN 'no torch.autograd.set_detect_anomaly(True): it keeps a traceback of each operator, and looks for NaN'
        WHEN NOT contains(function, '(') AND NOT starts_with(function, 'the range ')
            THEN 'in hooks and functions of autograd, compute with operators on tensors, or only in some steps; '
                || 'profile with with_stack=True, which names the functions'
        ELSE 'in hooks and functions of autograd, compute with operators on tensors, or only in some steps'
    END AS advice,
    'zernel-analyze export --perfetto {}' AS next_command
FROM traced
CROSS JOIN thresholds
WHERE train_steps >= thresholds.min_traced_steps
    AND lost_ns >= thresholds.min_share * train_ns
    AND lost_ns >= thresholds.min_ns
UNION ALL BY NAME
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    lost_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    lost_ns, -- [ns] on the CPU in such code, or in it by a trace
    bound_ns, -- [ns] saved at most: the passes that such code runs in
    least_ns AS least_lost_ns, -- [ns] lost at least
    format('median of {} steps: {} on the CPU; ', steps, ms(cpu_ns))
        || concat_ws(
            ' and ',
            CASE WHEN in_forward > 0 THEN format('{} of {} samples of the forward pass', in_forward, forward) END,
            CASE WHEN in_backward > 0 THEN format('{} of {} samples of the backward pass', in_backward, backward) END
        )
        || format(' are in Python code of its own, of {} in all: {} to {}; ', samples, ms(least_ns), ms(most_ns))
        AS evidence, -- what it rests on
    CASE
        WHEN in_backward > in_forward
            THEN 'in hooks and functions of autograd, compute with operators on tensors, or only in some steps'
        ELSE 'compute with operators on tensors, once and not in each step, or in DataLoader workers'
    END AS advice, -- what to try
    'zernel-analyze stacks {}' AS next_command -- to see more
FROM costs
LEFT JOIN _lateness USING (recording, pid)
CROSS JOIN thresholds
WHERE steps >= thresholds.min_steps
    AND samples >= thresholds.min_samples
    AND least_ns >= thresholds.least_share * step_ns
    AND lost_ns >= thresholds.min_share * step_ns
    AND lost_ns >= thresholds.min_ns
    AND (late_ns >= thresholds.late_share * lost_ns) IS NOT TRUE
