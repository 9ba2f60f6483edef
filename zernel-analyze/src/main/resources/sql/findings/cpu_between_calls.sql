-- Stacks in a tool that follows each call of Python: a profiler, a debugger, a measurement of coverage.
--
-- Such a tool's functions run only while it is on. One that is known by a frame of Python is told by the functions that
-- the interpreter calls, not by those that begin it, such as `Profile.run`, which are further out all along.
--
-- needs: _stack_frames
CREATE TABLE _tracer_stacks AS
WITH
    named AS (
        SELECT
            id,
            CASE
                WHEN native THEN CASE
                    WHEN regexp_matches(file, '^_lsprof\b')
                        OR regexp_matches(function, '^(ptrace_(enter|leave)_call|profiler_callback)$')
                        THEN 'cProfile'
                    WHEN regexp_matches(function, '^CTracer_') THEN 'coverage'
                    WHEN regexp_matches(file, '^_line_profiler\b') THEN 'line_profiler'
                    WHEN regexp_matches(file, '^_yappi\b') THEN 'yappi'
                END
                WHEN module = 'coverage' AND regexp_matches(file, '/(pytracer|sysmon)\.py$') THEN 'coverage'
                WHEN module = 'python' AND regexp_matches(function, 'dispatch|\b(local|global)trace') THEN CASE
                    WHEN regexp_matches(file, '/bdb\.py$') THEN 'a debugger (bdb)'
                    WHEN regexp_matches(file, '/profile\.py$') THEN 'profile'
                    WHEN regexp_matches(file, '/trace\.py$') THEN 'trace'
                END
            END AS tool
        FROM _stack_frames
    )
SELECT
    id, -- number of the stack
    min(tool) AS tool -- the tool
FROM named
WHERE tool IS NOT NULL
GROUP BY id;

-- Samples of training threads on a CPU in no recorded call, and how many of them are in the forward pass.
--
-- needs: _step_samples, _module_stacks, _tracer_stacks
-- digest: kept
CREATE TABLE _forward_samples AS
WITH
    timed AS (
        SELECT
            *,
            10 * (middle_ns - min(middle_ns) OVER thread)
                // (max(middle_ns) OVER thread - min(middle_ns) OVER thread + 1) AS tenth
        FROM _step_samples
        WHERE part = 'unknown'
        WINDOW thread AS (PARTITION BY recording, pid, tid)
    )
SELECT
    samples.recording, -- recording
    samples.pid, -- process
    samples.tid, -- training thread
    count(*) AS samples, -- samples in no recorded call
    count(*) FILTER (modules.forward) AS in_forward, -- of them, those in the forward pass
    count(*) FILTER (modules.operates) AS in_operator, -- of those, in operators
    count(*) FILTER (modules.own) AS in_own, -- of all, those in the user's own code that modules call, and in hooks
    count(modules.library_file) AS in_library, -- of all, those in modules, but in Python's standard library
    mode(modules.library_file ORDER BY modules.library_file) AS library_file, -- file of it that most of those are in
    count(tracers.tool) AS in_tracer, -- of all, those in what follows each call of Python
    count(DISTINCT CASE WHEN tracers.tool IS NOT NULL THEN samples.tenth END)
        AS tracer_tenths, -- tenths of the time of all samples that have such
    mode(tracers.tool ORDER BY tracers.tool) AS tracer -- what most of those are in
FROM timed AS samples
LEFT JOIN _module_stacks AS modules ON modules.id = samples.id
LEFT JOIN _tracer_stacks AS tracers ON tracers.id = samples.id
GROUP BY samples.recording, samples.pid, samples.tid;

-- Much of each step is work on the CPU outside loading, operators of the passes, and optimizer.
--
-- The training thread runs Python between its recorded calls. Typical is making batches in the loop, collating,
-- logging, metrics. Counted is the median step, so that single stalls do not count (slow_steps, gc_stall). In a loop
-- without a DataLoader the forward pass is in no recorded call either. Where stacks were recorded, its share is that of
-- the samples of this work in which a module of PyTorch computes; Python of the user's own that a module calls, and
-- hooks, are not the forward pass. Else it takes between half and one and a half of the backward pass, so what is lost
-- is a range, and what is taken for the loss assumes three quarters. Whether the rest can be given to another
-- process, made cheaper or left out, only its author knows. A profiler, debugger or measurement of coverage that
-- follows each call of Python is named: its own code is a small part of what it costs, as it also keeps the
-- interpreter from its short ways.
-- Does not apply to jobs that launch work on a GPU (host_bound), where time off the CPU was not recorded, to one late
-- rank of several (nccl_straggler), where half of it is what anomaly detection does (anomaly_detection), nor to steps
-- in which it is below a millisecond, which any loop in Python has.
--
-- needs: _between_calls, _forward_samples, _anomaly_samples, _lateness, _shared_lines
-- severity: high from 25 % of step time, else medium
-- hint: py-spy record --pid PID, or torch.profiler.record_function("...") around the suspects, names it
-- lines: that work WHERE works AND NOT in_forward
WITH
    thresholds AS (
        SELECT
            10 AS min_steps, -- steps of kind train
            0.15 AS min_share, -- of the step
            0.1 AS least_share, -- of the step, at least, however long the forward pass is
            1000000 AS min_ns, -- [ns] of it
            0.5 AS forward_share_least, -- of a backward pass, that a forward pass takes: convolutions
            0.75 AS forward_share, -- the same, usually
            1.5 AS forward_share_most, -- the same, at most: attention with dropout on a CPU
            5 AS min_tenths, -- tenths of the time with samples in what follows the calls of Python: it was left on
            0.5 AS anomaly_share, -- of the samples that are no forward pass, those that format stacks of operators
            0.5 AS own_share, -- of the samples that are no forward pass, those in Python of its own in modules
            0.5 AS late_share, -- of what is lost, by which a rank is late
            20 AS min_samples, -- of work in no call, to tell the forward pass from the rest
            2 AS deviations -- standard deviations that such a share may be wrong
    ),
    -- Shares of the work that are the forward pass; 1 where samples do not tell.
    sampled AS (
        SELECT
            recording,
            pid,
            tid,
            samples,
            in_forward,
            in_own,
            in_library,
            library_file,
            in_forward / samples AS share,
            in_operator / samples AS operator_share,
            deviations * sqrt(share * (1 - share) / samples) AS error
        FROM _forward_samples
        CROSS JOIN thresholds
        WHERE samples >= min_samples AND in_forward + in_own + in_library > 0
    ),
    forwards AS (
        SELECT
            medians.*,
            sampled.samples,
            sampled.in_forward,
            sampled.in_own,
            sampled.in_library,
            sampled.library_file,
            CASE WHEN traced.tracer_tenths >= thresholds.min_tenths THEN traced.tracer END AS tracer,
            traced.in_tracer,
            traced.in_tracer / traced.samples * medians.between_ns AS tracer_ns,
            sampled.share * medians.between_ns AS sampled_ns,
            sampled.error * medians.between_ns AS error_ns,
            least(
                coalesce(sampled_ns, thresholds.forward_share * medians.backward_ns),
                medians.between_ns
            ) AS forward_ns,
            -- Steps without a backward pass, as of inference, have none that says how long the forward pass is.
            CASE
                WHEN medians.backward_ns > 0 THEN least(
                    thresholds.forward_share_least * medians.backward_ns,
                    greatest(coalesce(sampled.operator_share - sampled.error, 1), 0) * medians.between_ns
                )
                ELSE greatest(coalesce(sampled.operator_share - sampled.error, 0), 0) * medians.between_ns
            END AS least_forward_ns,
            least(
                coalesce(sampled_ns + error_ns, thresholds.forward_share_most * medians.backward_ns),
                medians.between_ns
            ) AS most_forward_ns
        FROM _between_calls AS medians
        -- Where the forward pass was told apart, modules in no call are something else.
        LEFT JOIN sampled
            ON sampled.recording = medians.recording
            AND sampled.pid = medians.pid
            AND sampled.tid = medians.tid
            AND NOT coalesce(medians.forward_apart, medians.backward_ns = 0)
        LEFT JOIN _forward_samples AS traced
            ON traced.recording = medians.recording
            AND traced.pid = medians.pid
            AND traced.tid = medians.tid
        CROSS JOIN thresholds
    ),
    costs AS (
        SELECT
            *,
            between_ns - forward_ns AS lost_ns,
            between_ns - least_forward_ns AS left_ns,
            between_ns - most_forward_ns AS least_ns
        FROM forwards
        CROSS JOIN thresholds
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    lost_ns AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    lost_ns, -- [ns] on the CPU in no call, without the forward pass
    left_ns AS bound_ns, -- [ns] saved at most, when there is no such work
    CASE WHEN tracer IS NOT NULL THEN severity_of(lost_ns / step_ns) END
        AS severity, -- by all of it, where its own code is a small part of what something costs
    CASE WHEN tracer IS NULL THEN least_ns ELSE least(tracer_ns, least_ns) END
        AS least_lost_ns, -- [ns] lost at least; to what follows the calls of Python, what its own code takes
    format('median of {} steps: {} of {} on the CPU in no recorded call, {} in calls; ',
        steps, ms(between_ns), ms(step_ns), ms(called_ns))
        || CASE
            WHEN sampled_ns IS NOT NULL THEN format(
                'the forward pass is part of it: {} of its {} samples compute in a module, {} to {} are left; ',
                in_forward, samples, ms(least_ns), ms(left_ns)
            )
            WHEN backward_ns > 0 THEN format(
                'the forward pass is part of it: at half to one and a half of {} backward, {} to {} are left; ',
                ms(backward_ns), ms(least_ns), ms(left_ns)
            )
            ELSE ''
        END
        || CASE
            WHEN in_own > 0 THEN format(
                '{} more are in Python code of its own that modules call, or in hooks of theirs; ', in_own
            )
            ELSE ''
        END
        || CASE
            WHEN in_library > 0 THEN format(
                '{} more are in the standard library that modules call, most in {}; ', in_library, library_file
            )
            ELSE ''
        END
        || CASE
            WHEN tracer IS NOT NULL THEN format(
                '{} samples, {}, are in {}, which follows each call of Python and makes all of them slower; ',
                in_tracer, ms(tracer_ns), tracer
            )
            ELSE ''
        END
        || coalesce(
            format('in {} it also waits {} for other threads of the process (blocked_on_thread); ',
                shared.line, ms(wait_ns)),
            ''
        ) AS evidence, -- what it rests on
    CASE
        WHEN tracer IS NOT NULL
            THEN format('leave out {}, which is on all along, and see what is left; profile some steps and no more',
                tracer)
        WHEN in_own >= thresholds.own_share * (costs.samples - in_forward)
            THEN 'make what its lines do once, and keep it (register_buffer), where it is the same in each step, or '
                || 'of whole tensors, by operators; what hooks do, only in some steps'
        ELSE 'make what its lines do cheaper or rarer, or do it in another process; what prepares batches, in '
            || 'DataLoader workers; where no line is told, py-spy or record_function finds it'
    END AS advice, -- what to try
    'zernel-analyze sql {} "FROM thread_states"' AS next_command -- to see more
FROM costs
LEFT JOIN _lateness USING (recording, pid)
LEFT JOIN (SELECT recording, pid, tid, in_no_call FROM _anomaly_samples) AS detected
    USING (recording, pid, tid)
LEFT JOIN _shared_lines AS shared USING (recording, pid, tid)
CROSS JOIN thresholds
WHERE steps >= thresholds.min_steps
    AND least_ns >= thresholds.least_share * step_ns
    AND lost_ns >= thresholds.min_share * step_ns
    AND lost_ns >= thresholds.min_ns
    AND (late_ns >= thresholds.late_share * lost_ns) IS NOT TRUE
    AND (
        detected.in_no_call > 0
        AND detected.in_no_call >= thresholds.anomaly_share * (costs.samples - costs.in_forward)
    ) IS NOT TRUE
