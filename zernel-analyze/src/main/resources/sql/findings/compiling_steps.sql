-- Steps spend time in PyTorch's compiler, by a profiler's trace. It starts again in several of them.
--
-- torch.compile specializes on what it has seen, such as the shape of a batch, and starts again for another one, up to
-- its limit of recompilations. Lost is the time in its ranges of a mean step. At most saved is all that is in no other
-- operator, too, as guards and the first run of what was compiled are in no range.
-- Does not apply to recordings (recompiles, compiles_again), nor to one or two steps that compile, as first ones do.
--
-- needs: _operator_times, _step_spans, _trained, events
-- severity: high from 25 % of step time, medium from 10 %
-- hint: TORCH_LOGS=recompiles says which input changed
WITH
    thresholds AS (
        SELECT
            3 AS min_compiles, -- steps that compile
            0.05 AS min_share -- of the step
    ),
    sums AS (
        SELECT
            recording,
            pid,
            count(DISTINCT step) FILTER (compiles) AS compiles,
            coalesce(sum(dur_ns) FILTER (compiles), 0) AS compile_ns,
            coalesce(sum(dur_ns) FILTER (NOT compiles), 0) AS operator_ns
        FROM (
            SELECT
                recording,
                pid,
                step,
                dur_ns,
                is_compiling(operator) AS compiles
            FROM in_spans(_operator_times, _step_spans)
            WHERE trains AND operator IS NOT NULL
        )
        GROUP BY recording, pid
    ),
    -- Backward passes are compiled when they first run, inside one.
    compiled AS (
        SELECT recording, pid, ts_ns AS at_ns, dur_ns
        FROM events
        WHERE kind = 'torch_op'
            AND name = 'entire_backward_compile'
            AND recording IN (SELECT recording FROM sums WHERE compiles > 0)
    ),
    backward_compiles AS (
        SELECT recording, pid, sum(dur_ns) AS backward_ns
        FROM in_spans(compiled, _step_spans)
        WHERE trains
        GROUP BY recording, pid
    ),
    costs AS (
        SELECT
            sums.* REPLACE (
                sums.compile_ns + coalesce(backward.backward_ns, 0) AS compile_ns,
                greatest(sums.operator_ns - coalesce(backward.backward_ns, 0), 0) AS operator_ns
            ),
            trained.tid,
            trained.train_steps AS steps,
            trained.train_ns AS step_ns
        FROM sums
        LEFT JOIN backward_compiles AS backward ON backward.recording = sums.recording AND backward.pid = sums.pid
        JOIN _trained AS trained ON trained.recording = sums.recording AND trained.pid = sums.pid
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    compile_ns / steps AS part_ns, -- [ns] shown as share of step time
    step_ns, -- [ns] step
    compile_ns / steps AS lost_ns, -- [ns] in ranges of the compiler
    step_ns - least(operator_ns / steps, step_ns - compile_ns / steps)
        AS bound_ns, -- [ns] saved at most: what is in no other operator
    format('mean of {} steps: {} of {} in the compiler, in {} of them; with the profiler on, without which it is '
            || 'less; ',
        steps, ms(compile_ns / steps), ms(step_ns), compiles) AS evidence, -- what it rests on
    'torch.compile(dynamic=True), mark_dynamic, batches padded to a few sizes, or no Python numbers that change as '
        || 'arguments' AS advice, -- what to try
    'zernel-analyze export --perfetto {}' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
WHERE compiles >= min_compiles AND compile_ns / steps >= min_share * step_ns
