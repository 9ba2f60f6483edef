-- Times between two edges, begins or ends, of operators of PyTorch that a trace has of training on CPUs.
--
-- An operator that computes much does so between two edges that are far apart: its own, or those of one inside it.
--
-- needs: events, _operator_times
CREATE TABLE _operator_pieces AS
WITH
    threads AS (
        SELECT DISTINCT recording, pid, tid
        FROM _operator_times
    ),
    edges AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            unnest([events.ts_ns, events.ts_ns + events.dur_ns]) AS at_ns,
            unnest([1, -1]) AS turn,
            unnest([events.name, NULL]) AS operator
        FROM events
        SEMI JOIN threads USING (recording, pid, tid)
        WHERE events.kind = 'torch_op' AND events.dur_ns > 0
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    at_ns, -- [ns] when the piece began
    coalesce(lead(at_ns) OVER thread_order - at_ns, 0) AS dur_ns, -- [ns] until the next edge
    sum(turn) OVER (thread_order ROWS UNBOUNDED PRECEDING) > 0 AS inside, -- whether it is inside an operator
    operator -- operator that begins with it; NULL where one ends
FROM edges
WINDOW thread_order AS (PARTITION BY recording, pid, tid ORDER BY at_ns, turn);

-- The job calls many small operators. What surrounds them takes much of its time on a CPU.
--
-- Typical are loops over the samples of a batch, over pairs, boxes or places of a sequence, in a loss or in `forward`,
-- and a model that is asked about one sample at a time: each operator is found, its result allocated and noted for the
-- backward pass, which takes some microseconds whatever it computes. Counted are samples of forward and backward
-- passes, and of a program without steps those of the threads that compute most, in dispatch, autograd, tensors'
-- memory and PyTorch's Python; code that has no name, as that which oneDNN makes while it runs, may be either, and is
-- no part of the share that decides. What is saved at most is not known, as arithmetic on little is slow, too; nor is
-- taken off what the fewer operators need that are left. The lines are those of forward passes: for each operator
-- there, the backward pass has one or two.
-- By a trace of a job on CPUs, counted is the time in operators, forward and backward, between a begin or an end of one
-- and the next that are less than 20 us apart. With the profiler on, it is longer than without.
-- Does not apply to jobs that launch work on a GPU (host_bound, launch_bound), to operators in no pass of a training
-- (cpu_between_calls), to optimizers (slow_optimizer), in programs without steps to calls with a faster way
-- (slow_calls), nor where it is below two milliseconds of a step, which small models have.
--
-- needs: _step_samples, _working_samples, _calling_stacks, _module_stacks, faster_ways, step_mean
-- needs: _operator_frames, phase_words, _operator_pieces, _operator_times, _step_spans
-- severity: in a training high from 25 % of step time, else medium
-- hint: zernel-record --probe 'torch_op:aten::*' says which operators it calls, and how often
-- lines: that in forward passes WHERE calls AND thread = 'training'
-- lines: that time WHERE calls AND thread = 'process' AND id NOT IN (SELECT id FROM faster_ways)
WITH
    thresholds AS (
        SELECT
            50 AS min_samples, -- of the training thread, or of the threads that compute most
            30 AS min_named, -- of these, in functions that have names
            0.4 AS min_share, -- of those, around operators
            0.25 AS min_step_share, -- of a step
            2000000 AS min_ns, -- [ns] of a step
            0.25 AS min_wall_share, -- of the time that the threads of a program without steps work
            2 AS deviations, -- standard deviations that the share may be wrong
            20000 AS piece_ns, -- [ns] by a trace, between edges of operators, that are small below it
            1000 AS min_operators -- of a step by a trace, that begin
    ),
    passes AS (
        SELECT
            samples.recording,
            samples.pid,
            samples.tid,
            count(*) AS samples,
            count_if(frames.is_unnamed) AS unnamed,
            sum(samples.ns) AS cpu_ns,
            count_if(
                calling.id IS NOT NULL
                AND (samples.part IN ('forward', 'backward') OR samples.part = 'unknown' AND modules.forward)
            ) AS found
        FROM _step_samples AS samples
        LEFT JOIN _calling_stacks AS calling ON calling.id = samples.id
        LEFT JOIN _module_stacks AS modules ON modules.id = samples.id
        LEFT JOIN _operator_frames AS frames ON frames.id = samples.id
        ANTI JOIN (SELECT recording, pid FROM phase_words WHERE on_gpu) AS on_gpus
            ON on_gpus.recording = samples.recording AND on_gpus.pid = samples.pid
        GROUP BY samples.recording, samples.pid, samples.tid
    ),
    costs AS (
        SELECT
            passes.recording,
            passes.pid,
            passes.tid,
            passes.samples,
            passes.unnamed,
            passes.found,
            means.steps,
            means.step_ns,
            passes.found / passes.samples AS share,
            thresholds.deviations * sqrt(share * (1 - share) / passes.samples) AS error,
            least(passes.cpu_ns / means.steps, means.step_ns) AS cpu_ns
        FROM passes
        JOIN step_mean AS means
            ON means.recording = passes.recording
            AND means.pid = passes.pid
            AND means.tid = passes.tid
        CROSS JOIN thresholds
        WHERE passes.samples >= thresholds.min_samples
    ),
    working AS (
        SELECT
            samples.recording,
            samples.pid,
            any_value(samples.threads) AS threads,
            any_value(samples.wall_ns) AS wall_ns,
            count(*) AS samples,
            count_if(frames.is_unnamed) AS unnamed,
            count_if(calling.id IS NOT NULL AND ways.id IS NULL) AS found,
            sum(samples.ns) AS cpu_ns,
            sum(CASE WHEN calling.id IS NOT NULL AND ways.id IS NULL THEN samples.ns ELSE 0 END) AS calling_ns
        FROM _working_samples AS samples
        LEFT JOIN _calling_stacks AS calling ON calling.id = samples.id
        LEFT JOIN faster_ways AS ways ON ways.id = samples.id
        LEFT JOIN _operator_frames AS frames ON frames.id = samples.id
        GROUP BY samples.recording, samples.pid
    ),
    traced AS (
        SELECT pieces.*, means.steps, means.step_ns
        FROM (
            SELECT
                recording,
                pid,
                any_value(tid) AS tid,
                count(operator) AS operators,
                bool_or(regexp_matches(operator, '^aten::(lstm|gru|rnn_(tanh|relu))_cell$')) IS TRUE AS has_cells,
                sum(CASE WHEN inside AND dur_ns < piece_ns THEN dur_ns END) AS small_ns
            FROM in_spans(_operator_pieces, _step_spans)
            CROSS JOIN thresholds
            WHERE trains
            GROUP BY recording, pid
        ) AS pieces
        JOIN step_mean AS means
            ON means.recording = pieces.recording
            AND means.pid = pieces.pid
            AND means.tid = pieces.tid
    ),
    callers AS (
        SELECT
            recording,
            pid,
            arg_max([operator, function], (operators, operator)) AS most,
            max(operators) AS operators
        FROM (
            SELECT recording, pid, operator, function, count(*) AS operators
            FROM in_spans(_operator_times, _step_spans)
            WHERE trains AND kind = 'torch_op' AND NOT starts_with(operator, 'autograd::')
            GROUP BY recording, pid, operator, function
        )
        GROUP BY recording, pid
    )
SELECT
    recording,
    pid,
    round(100 * found / samples, 1) AS value,
    '% of its time on a CPU' AS unit,
    'medium' AS severity,
    format('{:.2f} s on a CPU of {}; {} of {} samples are in what surrounds operators of PyTorch: dispatch, memory, '
        || 'the interpreter', cpu_ns / 1e9,
        CASE threads WHEN 1 THEN 'the thread that computes' ELSE format('{} threads that compute', threads) END,
        found, samples)
        || CASE WHEN unnamed > 0 THEN format('; {} more in code that has no name', unnamed) ELSE '' END AS evidence,
    'fewer and larger operators: whole batches and sequences at once, not one sample, pair or place after another'
        AS advice,
    'zernel-analyze stacks {}' AS next_command
FROM working
CROSS JOIN thresholds
WHERE samples >= min_samples
    AND samples - unnamed >= min_named
    AND found >= min_share * (samples - unnamed)
    AND calling_ns >= min_wall_share * wall_ns
UNION ALL BY NAME
SELECT
    traced.recording,
    traced.pid,
    traced.tid,
    small_ns / steps AS part_ns,
    step_ns,
    small_ns / steps AS lost_ns,
    NULL::DOUBLE AS bound_ns,
    format('mean of {} steps: {} of {} in operators, between two begins or ends of them that are less than {} apart; a '
        || 'step has {:,.0f} operators', steps, us_or_ms(small_ns / steps), us_or_ms(step_ns), us_or_ms(piece_ns),
        traced.operators / steps)
        || coalesce(
            format('; of those that no other calls, {:,.0f} are {}', callers.operators / steps, callers.most[1])
                || coalesce(' in ' || callers.most[2], ''),
            ''
        )
        || '; with the profiler on, without which it is less' AS evidence,
    CASE
        WHEN has_cells
            THEN 'nn.LSTM, nn.GRU or nn.RNN, given whole sequences, where its inputs are known beforehand: a cell is '
                || 'called for each place'
        ELSE 'fewer and larger operators: whole batches and sequences at once, not one sample, pair or place after '
            || 'another; torch.compile, where that is not possible'
    END AS advice,
    'zernel-analyze export --perfetto {}' AS next_command
FROM traced
CROSS JOIN thresholds
LEFT JOIN callers ON callers.recording = traced.recording AND callers.pid = traced.pid
WHERE small_ns >= min_step_share * step_ns * steps
    AND small_ns >= min_ns * steps
    AND traced.operators >= min_operators * steps
UNION ALL BY NAME
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread; NULL in a process without steps
    share * cpu_ns AS part_ns, -- [ns] shown as share of step time
    NULL AS value, -- percent of its time on a CPU, without steps
    NULL AS unit, -- unit of value
    step_ns, -- [ns] step
    share * cpu_ns AS lost_ns, -- [ns] around operators
    NULL::DOUBLE AS bound_ns, -- [ns] saved at most: not known
    greatest(share - error, 0) * cpu_ns AS least_lost_ns, -- [ns] lost at least
    NULL AS severity, -- medium without steps; else by what is lost at least
    format('mean of {} steps: {} on the CPU of {}; {} of {} samples are in what surrounds operators of forward and '
        || 'backward passes (dispatch, autograd, memory, the interpreter), {} to {}',
        steps, ms(cpu_ns), ms(step_ns), found, samples, ms(greatest(share - error, 0) * cpu_ns),
        ms((share + error) * cpu_ns))
        || CASE WHEN unnamed > 0 THEN format('; {} more in code that has no name', unnamed) ELSE '' END
        AS evidence, -- what it rests on
    'fewer and larger operators: whole batches and sequences at once, not one sample, pair or place after another; '
        || 'torch.compile, where that is not possible' AS advice, -- what to try
    'zernel-analyze stacks {}' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE samples - unnamed >= min_named
    AND found >= min_share * (samples - unnamed)
    AND share * cpu_ns >= min_step_share * step_ns
    AND share * cpu_ns >= min_ns
