-- The optimizer takes much of a step. `Optimizer.step` runs on the CPU for longer than a fused one would.
--
-- Waits for the GPU inside it do not count, nor time in it that the thread is ready without a CPU, or waits for
-- Python's lock or another thread. Lost is what is beyond a tenth of the step, at most as the GPU is idle by the
-- driver's samples; a tenth is an assumption, and the bound is that it takes no time at all. How many of a step's
-- launches are in it is evidence: an optimizer that goes through the parameters one by one has several for each.
-- On a CPU, samples tell many small parameters, where most of the time is around operators, from large ones, which take
-- time to go through. Gradients of large embeddings are zero but for the rows of the batch: at most saved is then also
-- what fills them with zeros.
-- Of a profiler's trace it applies where the job computes on a CPU, and many operators are in the optimizer, or it is
-- the whole gradients of embeddings (`aten::embedding_dense_backward`) that it goes through; operators that take most
-- of its time tell large parameters.
--
-- needs: step_mean, step_work, gpu_busy, files, _rare_events, _launched, _step_spans, _sampled, _off_cpu_steps
-- needs: _thread_wait_spans, events, phase_words, _step_samples, _operator_frames
-- severity: high from 25 % of step time, medium from 10 %
-- hint: zernel-record --probe 'torch_op:aten::*' says which operators it runs
-- lines: the optimizer WHERE thread = 'training' AND step_kind = 'train' AND part = 'optimizer_step' AND NOT stands
WITH
    thresholds AS (
        SELECT
            5 AS min_steps, -- steps of kind train
            2 AS min_traced_steps, -- the same of a trace
            0.25 AS min_share, -- of step time in the optimizer
            0.1 AS usual_share, -- of step time that it may take
            0.02 AS told_share, -- of step time in it that is not its own, from which on that is worth a word
            200000 AS min_ns, -- [ns] in the optimizer: calling any from Python takes about as long
            50 AS min_samples, -- of the training thread in it, that tell how large parameters are
            0.25 AS most_around, -- of these, around operators or in Python, where parameters are large
            50 AS many_launches, -- in the optimizer of a step, from which on they are worth a word
            50 AS many_operators, -- in that of a step on a CPU, by a trace: a fused one has two for all parameters
            0.5 AS sparse_share, -- of the optimizer's time, from which on it is one for sparse gradients
            0.05 AS min_dense_share -- of the optimizer's time, that embeddings take to make their gradients
    ),
    held_up AS (
        SELECT
            spans.recording,
            spans.pid,
            spans.tid,
            sum(spans.runq_ns) AS ready_ns,
            sum(CASE WHEN waits.kind IN ('gil', 'lock') THEN spans.blocked_ns ELSE 0 END) AS locked_ns
        FROM _off_cpu_steps AS spans
        LEFT JOIN _thread_wait_spans AS waits
            ON waits.recording = spans.recording
            AND waits.pid = spans.pid
            AND waits.tid = spans.tid
            AND waits.from_ns = spans.start_ns
        WHERE spans.step_kind = 'train' AND spans.part = 'optimizer_step'
        GROUP BY ALL
    ),
    parts AS (
        SELECT
            means.recording,
            means.pid,
            means.tid,
            means.steps,
            means.step_ns,
            coalesce(held_up.ready_ns, 0) / means.steps AS ready_ns,
            coalesce(held_up.locked_ns, 0) / means.steps AS locked_ns,
            greatest(
                means.optimizer_step_ns - coalesce(held_up.ready_ns + held_up.locked_ns, 0) / means.steps,
                0
            ) AS optimizer_ns
        FROM step_mean AS means
        LEFT JOIN held_up
            ON held_up.recording = means.recording
            AND held_up.pid = means.pid
            AND held_up.tid = means.tid
        WHERE means.steps > 0
    ),
    sampled AS (
        SELECT
            samples.recording,
            samples.pid,
            samples.tid,
            count_if(samples.part = 'optimizer_step') AS samples,
            sum(CASE WHEN samples.part = 'optimizer_step' THEN samples.ns ELSE 0 END) AS sampled_ns,
            sum(CASE WHEN samples.part = 'optimizer_step' AND frames.is_around THEN samples.ns ELSE 0 END)
                AS around_ns,
            sum(CASE WHEN samples.part IN ('backward', 'zero_grad') AND frames.fills THEN samples.ns ELSE 0 END)
                AS filled_ns
        FROM _step_samples AS samples
        JOIN _operator_frames AS frames ON frames.id = samples.id
        GROUP BY ALL
    ),
    sizes AS (
        SELECT
            recording,
            pid,
            tid,
            samples,
            around_ns / sampled_ns AS around_share,
            filled_ns / sampled_ns AS filled_share
        FROM sampled
        ANTI JOIN (SELECT recording, pid FROM phase_words WHERE on_gpu) AS on_gpus USING (recording, pid)
        CROSS JOIN thresholds
        WHERE samples >= thresholds.min_samples AND around_share <= thresholds.most_around
    ),
    dense AS (
        SELECT events.recording, events.pid, sum(events.dur_ns) / count(DISTINCT steps.step) AS dense_ns
        FROM events
        ASOF JOIN _step_spans AS steps
            ON steps.recording = events.recording AND steps.pid = events.pid AND steps.from_ns <= events.ts_ns
        WHERE events.kind = 'torch_op'
            AND events.name = 'aten::embedding_dense_backward'
            AND events.ts_ns < steps.until_ns
            AND steps.steady
            AND events.recording IN (SELECT recording FROM files WHERE state = 'trace')
        GROUP BY ALL
    ),
    costs AS (
        SELECT
            parts.*,
            sizes.samples,
            sizes.around_share,
            dense.dense_ns,
            least(parts.optimizer_ns - thresholds.usual_share * parts.step_ns, busy.idle_ns) AS lost_ns,
            coalesce(sizes.filled_share, 0) * parts.optimizer_ns AS filled_ns,
            least(parts.optimizer_ns + parts.locked_ns + parts.ready_ns + filled_ns, busy.most_idle_ns) AS bound_ns,
            busy.least_idle_ns
        FROM parts
        LEFT JOIN sizes ON sizes.recording = parts.recording AND sizes.pid = parts.pid AND sizes.tid = parts.tid
        LEFT JOIN dense ON dense.recording = parts.recording AND dense.pid = parts.pid
        LEFT JOIN gpu_busy AS busy ON busy.recording = parts.recording AND busy.pid = parts.pid
        CROSS JOIN thresholds
        WHERE parts.steps >= CASE
                WHEN parts.recording IN (SELECT recording FROM files WHERE state = 'trace')
                    THEN thresholds.min_traced_steps
                ELSE thresholds.min_steps
            END
            AND parts.optimizer_ns >= thresholds.min_share * parts.step_ns
            AND parts.optimizer_ns >= thresholds.min_ns
    ),
    calls AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            events.ts_ns AS from_ns,
            events.ts_ns + events.dur_ns AS until_ns,
            contains(events.name, '#SparseAdam.') AS sparse
        FROM _rare_events AS events
        JOIN costs ON costs.recording = events.recording AND costs.pid = events.pid AND costs.tid = events.tid
        WHERE events.kind = 'region' AND events.name LIKE 'Optimizer.step#%' AND events.dur_ns > 0
    ),
    sparse AS (
        SELECT calls.recording, calls.pid, calls.tid
        FROM calls
        CROSS JOIN thresholds
        GROUP BY calls.recording, calls.pid, calls.tid
        HAVING sum(CASE WHEN calls.sparse THEN calls.until_ns - calls.from_ns ELSE 0 END)
            >= any_value(thresholds.sparse_share) * sum(calls.until_ns - calls.from_ns)
    ),
    optimizers AS (
        SELECT calls.recording, calls.pid, calls.from_ns, calls.until_ns, steps.step
        FROM calls
        ASOF JOIN (SELECT * FROM _step_spans WHERE detailed AND steady) AS steps
            ON steps.recording = calls.recording
            AND steps.pid = calls.pid
            AND steps.tid = calls.tid
            AND steps.from_ns <= calls.from_ns
        WHERE calls.until_ns <= steps.until_ns
    ),
    launched AS (
        SELECT _launched.recording, _launched.pid, _launched.tid, _launched.at_ns
        FROM _launched
        SEMI JOIN optimizers ON optimizers.recording = _launched.recording AND optimizers.pid = _launched.pid
        ANTI JOIN _sampled ON _sampled.recording = _launched.recording AND _sampled.kind = 'cuda_launch'
        WHERE NOT _launched.graph
    ),
    counted AS (
        SELECT recording, pid, count(DISTINCT (tid, at_ns)) / count(DISTINCT step) AS launches
        FROM in_spans(launched, optimizers)
        GROUP BY recording, pid
    ),
    -- The outermost of each thread.
    operators AS (
        SELECT events.recording, events.pid, events.ts_ns AS at_ns, events.dur_ns AS operator_ns
        FROM events
        JOIN costs ON costs.recording = events.recording AND costs.pid = events.pid AND costs.tid = events.tid
        JOIN files ON files.recording = events.recording
        WHERE events.kind = 'torch_op' AND files.state = 'trace'
        QUALIFY coalesce(
            max(events.ts_ns + events.dur_ns) OVER (
                PARTITION BY events.recording, events.pid
                ORDER BY events.ts_ns, events.dur_ns DESC
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) <= events.ts_ns,
            TRUE
        )
    ),
    counts AS (
        SELECT
            recording,
            pid,
            count(DISTINCT at_ns) / count(DISTINCT step) AS operators,
            sum(operator_ns) / count(DISTINCT step) AS operators_ns
        FROM in_spans(operators, optimizers)
        GROUP BY recording, pid
    ),
    traced AS (
        SELECT
            counts.recording,
            counts.pid,
            counts.operators,
            counts.operators_ns / costs.optimizer_ns AS share,
            CASE
                WHEN share >= 1 - thresholds.most_around
                    AND costs.dense_ns >= thresholds.min_dense_share * costs.optimizer_ns
                    THEN costs.dense_ns
            END AS dense_ns
        FROM counts
        JOIN costs USING (recording, pid)
        CROSS JOIN thresholds
    ),
    worked AS (
        SELECT recording, pid, avg(launches) AS launches
        FROM step_work
        WHERE step_kind = 'train'
        GROUP BY recording, pid
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    optimizer_ns AS part_ns, -- [ns] shown as share of step time in the optimizer
    step_ns, -- [ns] step
    lost_ns, -- [ns] beyond what it may take, at most as the GPU is idle
    bound_ns + coalesce(traced.dense_ns, 0) AS bound_ns, -- [ns] saved at most, when it takes no time
    least_lost(lost_ns, least_idle_ns) AS least_lost_ns, -- [ns] lost at least, without samples of the GPU
    least_idle_ns, -- [ns] the GPU is idle at least, without samples
    format('mean of {} steps: {} of {} in the optimizer ({} of a step is considered normal)',
        steps, ms(optimizer_ns), ms(step_ns), pct(usual_share))
        || CASE
            WHEN ready_ns >= told_share * step_ns THEN format(', without {} in it ready without a CPU', ms(ready_ns))
            ELSE ''
        END
        || CASE
            WHEN locked_ns >= told_share * step_ns
                THEN format(', without {} in it waiting for another thread', ms(locked_ns))
            ELSE ''
        END
        || '; '
        || CASE
            WHEN counted.launches >= thresholds.many_launches
                THEN format('{:.0f} of the {:.0f} launches of a step are in it; ', counted.launches, worked.launches)
            ELSE ''
        END
        || CASE
            WHEN around_share IS NOT NULL AND sparse.pid IS NULL
                THEN format('{} of {} samples in it are in operators, so parameters are large; ',
                    pct(1 - around_share), samples)
            ELSE ''
        END
        || CASE
            WHEN filled_ns >= told_share * step_ns
                THEN format('filling gradients with zeros takes {} more; ', ms(filled_ns))
            ELSE ''
        END
        || CASE
            WHEN traced.dense_ns IS NOT NULL
                THEN format('operators, {:.0f} a step, take {} of it, so parameters are large; making gradients for '
                    || 'all rows of embeddings takes {} more; ',
                    traced.operators, pct(least(traced.share, 1)), ms(traced.dense_ns))
            WHEN traced.operators IS NOT NULL
                THEN format('{:.0f} operators a step are in it; with the profiler on, without which it is less; ',
                    traced.operators)
            ELSE ''
        END AS evidence, -- what it rests on
    CASE
        WHEN sparse.pid IS NOT NULL
            THEN 'SparseAdam sorts the rows of each batch and reads two more numbers for each of theirs: SGD for the '
                || 'embeddings, which keeps none, where the model learns as well; or step less often: accumulate '
                || 'gradients'
        WHEN around_share IS NOT NULL OR traced.dense_ns IS NOT NULL
            THEN 'sparse=True with SparseAdam for large embeddings, so that only the rows of a batch are updated, '
                || 'unless a table is the output layer too; else fused=True, which goes through the memory once; or '
                || 'step less often: accumulate gradients'
        WHEN traced.operators IS NULL
            THEN 'fused=True or foreach=True, few parameter groups, as each is stepped by itself; no Python of your '
                || 'own in step(); for large embeddings sparse=True with SparseAdam; or step less often: accumulate '
                || 'gradients'
        ELSE 'fused=True, few parameter groups, as each is stepped by itself; no Python of your own in step(); or step '
            || 'less often: accumulate gradients'
    END AS advice, -- what to try
    'zernel-analyze phases --parts {}' AS next_command -- to see more
FROM costs
CROSS JOIN thresholds
LEFT JOIN counted USING (recording, pid)
LEFT JOIN worked USING (recording, pid)
LEFT JOIN traced USING (recording, pid)
LEFT JOIN sparse USING (recording, pid, tid)
LEFT JOIN (SELECT DISTINCT recording, pid, on_gpu FROM phase_words) AS words USING (recording, pid)
WHERE lost_ns > 0
    AND (
        recording NOT IN (SELECT recording FROM files WHERE state = 'trace')
        OR (traced.operators >= thresholds.many_operators OR traced.dense_ns IS NOT NULL) AND NOT words.on_gpu
    )
