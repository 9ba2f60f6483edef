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
-- Does not apply to jobs that launch work on a GPU (host_bound, launch_bound), to operators in no pass of a training
-- (cpu_between_calls), to optimizers (slow_optimizer), in programs without steps to calls with a faster way
-- (slow_calls), nor where it is below two milliseconds of a step, which small models have.
--
-- needs: _step_samples, _working_samples, _calling_stacks, _module_stacks, faster_ways, step_mean
-- needs: _operator_frames, phase_words
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
            2 AS deviations -- standard deviations that the share may be wrong
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
