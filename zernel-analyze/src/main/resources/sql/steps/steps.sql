-- Steps that calls with the role `step` tell: from one call to the next, the last one to its own end.
--
-- What lies between two calls, such as fetching the next batch, so belongs to the first of them. Calls inside another
-- one of the same thread are part of it. Steps of PyTorch's profiler follow each other at once, or were not profiled in
-- between: each lasts to its own end.
--
-- needs: _role_calls
CREATE TABLE _role_steps AS
WITH
    calls AS (
        SELECT
            recording,
            pid,
            tid,
            name,
            start_ns,
            end_ns,
            max(end_ns) OVER (
                PARTITION BY recording, pid, tid
                ORDER BY start_ns
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
            ) AS until_ns
        FROM _role_calls
        WHERE role = 'step'
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    name, -- function or region
    start_ns, -- [ns] when the step begins: the call
    CASE
        WHEN name = 'ProfilerStep' THEN end_ns
        ELSE coalesce(lead(start_ns) OVER (PARTITION BY recording, pid, tid ORDER BY start_ns), end_ns)
    END AS end_ns -- [ns] when it ends; NULL where that is not known
FROM calls
WHERE coalesce(until_ns <= start_ns, TRUE);

-- Moments in which a process compiles while it runs.
--
-- It opens a cache of compiled kernels, captures a CUDA graph, or a process that it or one of its children forked runs
-- a compiler, as TorchInductor does for the CPU. The caches are those of TorchInductor, Triton, JAX and the driver; the
-- packages of these are none.
--
-- needs: events, _rare_events
CREATE TABLE _compiles AS
WITH RECURSIVE
    constants AS (
        SELECT 6 AS most_generations -- between a process and a compiler that runs for it
    ),
    compilers AS (
        SELECT recording, pid, ts_ns
        FROM events
        WHERE kind = 'process'
            AND name = 'exec'
            AND regexp_matches(comm, '^(cc1|cc1plus|clang.*|icpx|ptxas|cicc|nvcc)$')
    ),
    forks AS (
        SELECT recording, child_pid AS pid, any_value(pid) AS parent
        FROM events
        WHERE kind = 'process'
            AND name = 'fork'
            AND child_pid = child_tid
            AND recording IN (SELECT recording FROM compilers)
        GROUP BY recording, child_pid
    ),
    ancestors AS (
        SELECT recording, pid, ts_ns, 0 AS generation
        FROM compilers
        UNION ALL
        SELECT ancestors.recording, forks.parent, ancestors.ts_ns, ancestors.generation + 1
        FROM ancestors
        JOIN forks ON forks.recording = ancestors.recording AND forks.pid = ancestors.pid
        CROSS JOIN constants
        WHERE ancestors.generation < constants.most_generations
    )
SELECT
    recording, -- recording
    pid, -- process
    ts_ns -- [ns] when
FROM events
WHERE kind = 'io_open'
    AND regexp_matches(path, 'torchinductor|[./]triton/|jax_cache|xla_cache|/\.nv/ComputeCache|\.cubin$')
    AND NOT regexp_matches(path, '/(site|dist)-packages/')
UNION ALL
SELECT recording, pid, ts_ns
FROM _rare_events
WHERE kind = 'cuda_graph' AND (name LIKE '%EndCapture%' OR name LIKE '%GraphInstantiate%')
UNION ALL
SELECT recording, pid, ts_ns
FROM ancestors
WHERE generation > 0;

-- Steps of each training thread, of what kind each was, and where its time went.
--
-- A step ends when `Optimizer.step` returns; it begins where the one before ended, the first one at the thread's first
-- call. Optimizer steps with no new batch between them (several optimizers, nested ones) are one step, where a
-- DataLoader feeds the optimizer. A thread without an optimizer gets one step per batch, from `__next__` to `__next__`.
-- Processes with neither get steps from what the thread that launches repeats, with a `confidence` (see
-- `_marker_ratings`): those of training, or of an engine that infers, such as a token of each sequence; else none.
-- Where calls of a thread have the role `step`, these tell its steps (see `_role_steps`), and nothing else does.
--
-- Long steps take longer than the median + 5 MAD and 1.2 medians. Kinds: *warmup* is the first step, of a trace that is
-- opened without a recording only if it is long, and the long ones right after it; all of the first ten up to one twice
-- as long as nearly all later ones (CUDA graphs are captured in the second or third step); and any long one that
-- compiles (see `_compiles`). *checkpoint*: opens a checkpoint (see `_checkpoint_opens`) and takes longer likewise.
-- *profiler*: PyTorch's profiler begins, ends or writes a profile (see `profiler_runs`), and it takes longer likewise.
-- *evaluation*: fetches at least two batches more than it has backward passes than the median step does; or, where
-- steps are batches, has no backward pass while the median step has one. All others are *train*, also slow ones, and
-- those of inference.
--
-- What a step has of detail, such as launches, is known where it is `detailed`; of one with a `detail_share` of 0,
-- nothing was recorded, and nothing made it longer. See `detail_windows`.
--
-- needs: _intervals, _segments, _evaluations, _step_markers, _role_steps, _checkpoint_opens, _compiles, _thread_numbers
-- needs: _profiler_calls, _detail, detail_windows, files, _optimizer_turns
-- needs: _optimizer_rounds
-- digest: kept
CREATE TABLE steps AS
WITH
    threads AS (
        SELECT
            thread,
            min(start_ns) AS first_ns,
            bool_or(part = 'optimizer_step') AS has_optimizer
        FROM _intervals
        GROUP BY ALL
    ),
    by_role AS (
        SELECT numbers.thread, steps.start_ns, steps.end_ns, 'role of ' || steps.name AS source
        FROM _role_steps AS steps
        JOIN _thread_numbers AS numbers USING (recording, pid, tid)
    ),
    markers AS (
        SELECT
            markers.thread,
            markers.start_ns,
            markers.end_ns,
            markers.part = 'optimizer_step' AS steps,
            lead(markers.part = 'data_wait') OVER thread_order AS loads_next,
            lead(markers.start_ns) OVER thread_order AS next_start_ns,
            threads.first_ns,
            threads.has_optimizer,
            markers.fed
        FROM _intervals AS markers
        JOIN threads ON threads.thread = markers.thread
        ANTI JOIN by_role ON by_role.thread = markers.thread
        WHERE markers.part IN ('data_wait', 'optimizer_step')
        WINDOW thread_order AS (PARTITION BY markers.thread ORDER BY markers.end_ns)
    ),
    turns AS (
        SELECT
            turns.thread,
            turns.ends,
            rounds.last_what IS NULL
                OR (turns.what = rounds.last_what
                    AND lead(turns.what) OVER (PARTITION BY turns.thread ORDER BY turns.number)
                        IS DISTINCT FROM rounds.last_what)
                AS ends_step
        FROM _optimizer_turns AS turns
        JOIN _optimizer_rounds AS rounds ON rounds.thread = turns.thread
    ),
    -- Calls of optimizers after which another's turn in the same round follows.
    inner_calls AS (
        SELECT thread, end_ns
        FROM (SELECT thread, ends_step, ends[-1] AS last_ns, unnest(ends) AS end_ns FROM turns)
        WHERE NOT ends_step OR end_ns < last_ns
    ),
    by_region AS (
        SELECT
            thread,
            CASE
                WHEN has_optimizer THEN coalesce(
                    lag(end_ns) OVER (PARTITION BY thread ORDER BY end_ns),
                    first_ns
                )
                ELSE start_ns
            END AS start_ns,
            CASE WHEN has_optimizer THEN end_ns ELSE next_start_ns END AS end_ns,
            CASE WHEN has_optimizer THEN 'Optimizer.step' ELSE 'DataLoader' END AS source
        FROM markers
        ANTI JOIN inner_calls USING (thread, end_ns)
        WHERE CASE
                WHEN has_optimizer
                    THEN steps
                        AND (NOT fed OR coalesce(loads_next, TRUE))
                        AND coalesce(next_start_ns >= end_ns, TRUE)
                ELSE next_start_ns IS NOT NULL
            END
    ),
    boundaries AS (
        SELECT thread, start_ns, end_ns, source, CAST(1 AS DOUBLE) AS confidence
        FROM by_region
        UNION ALL
        SELECT thread, start_ns, end_ns, source, CAST(1 AS DOUBLE) AS confidence
        FROM by_role
        WHERE end_ns > start_ns
        UNION ALL
        SELECT
            numbers.thread,
            markers.start_ns,
            markers.until_ns AS end_ns,
            'periodicity of ' || markers.what AS source,
            markers.confidence
        FROM _step_markers AS markers
        JOIN _thread_numbers AS numbers USING (recording, pid, tid)
        WHERE markers.until_ns IS NOT NULL
    ),
    backwards AS (
        SELECT thread, start_ns
        FROM _intervals
        WHERE part = 'backward'
    ),
    -- A join on stretches of time costs less than an ASOF join, which would sort all segments.
    lengths AS (
        SELECT thread, quantile_cont(end_ns - start_ns, 0.1) AS dur_ns
        FROM boundaries
        WHERE end_ns > start_ns
        GROUP BY ALL
    ),
    constants AS (
        SELECT bucket_bits(min(dur_ns), 25) AS bits
        FROM lengths
    ),
    stretches AS (
        SELECT
            thread,
            start_ns,
            end_ns,
            unnest(range(start_ns >> bits, (end_ns >> bits) + 1)) AS stretch
        FROM boundaries
        CROSS JOIN constants
    ),
    segments AS (
        SELECT thread, start_ns, dur_ns, phase, part, start_ns >> (SELECT bits FROM constants) AS stretch
        FROM _segments
    ),
    sums AS (
        SELECT
            stretches.thread,
            stretches.start_ns,
            CAST(sum(CASE WHEN phase = 'DataLoading' THEN dur_ns ELSE 0 END) AS BIGINT) AS data_loading_ns,
            CAST(sum(CASE WHEN phase = 'GpuCompute' THEN dur_ns ELSE 0 END) AS BIGINT) AS gpu_compute_ns,
            CAST(sum(CASE WHEN phase = 'NcclCollective' THEN dur_ns ELSE 0 END) AS BIGINT) AS nccl_collective_ns,
            CAST(sum(CASE WHEN phase = 'OptimizerStep' THEN dur_ns ELSE 0 END) AS BIGINT) AS optimizer_step_ns,
            CAST(sum(CASE WHEN phase = 'Unknown' THEN dur_ns ELSE 0 END) AS BIGINT) AS unknown_ns,
            count(CASE WHEN part = 'data_wait' THEN 1 END) AS batches
        FROM segments
        JOIN stretches ON stretches.thread = segments.thread AND stretches.stretch = segments.stretch
        WHERE segments.start_ns >= stretches.start_ns AND segments.start_ns < stretches.end_ns
        GROUP BY stretches.thread, stretches.start_ns
    ),
    passes AS (
        SELECT boundaries.thread, boundaries.start_ns, count(*) AS backwards
        FROM backwards
        ASOF JOIN boundaries
            ON boundaries.thread = backwards.thread
            AND boundaries.start_ns <= backwards.start_ns
        GROUP BY ALL
    ),
    evaluated AS (
        SELECT
            boundaries.thread,
            boundaries.start_ns,
            sum(least(evaluations.end_ns, boundaries.end_ns) - evaluations.start_ns) AS dur_ns
        FROM _evaluations AS evaluations
        ASOF JOIN boundaries
            ON boundaries.thread = evaluations.thread
            AND boundaries.start_ns <= evaluations.start_ns
        WHERE evaluations.start_ns < boundaries.end_ns
        GROUP BY ALL
    ),
    saves AS (
        SELECT DISTINCT boundaries.thread, boundaries.start_ns
        FROM (
            SELECT numbers.thread, opens.ts_ns
            FROM _checkpoint_opens AS opens
            JOIN _thread_numbers AS numbers USING (recording, pid, tid)
        ) AS opens
        ASOF JOIN boundaries
            ON boundaries.thread = opens.thread
            AND boundaries.start_ns <= opens.ts_ns
    ),
    moments AS (
        SELECT numbers.thread, calls.ts_ns, 'compiles' AS what
        FROM _compiles AS calls
        JOIN _thread_numbers AS numbers ON numbers.recording = calls.recording AND numbers.pid = calls.pid
        UNION ALL
        SELECT numbers.thread, calls.start_ns, 'profiles'
        FROM _profiler_calls AS calls
        JOIN _thread_numbers AS numbers ON numbers.recording = calls.recording AND numbers.pid = calls.pid
    ),
    marked AS (
        SELECT
            boundaries.thread,
            boundaries.start_ns,
            bool_or(moments.what = 'compiles') AS compiles,
            bool_or(moments.what = 'profiles') AS profiles
        FROM moments
        ASOF JOIN boundaries
            ON boundaries.thread = moments.thread
            AND boundaries.start_ns <= moments.ts_ns
        WHERE moments.ts_ns < boundaries.end_ns
        GROUP BY boundaries.thread, boundaries.start_ns
    ),
    -- A trace begins somewhere in the job, a recording mostly with it.
    traces AS (
        SELECT numbers.thread
        FROM _thread_numbers AS numbers
        JOIN files ON files.recording = numbers.recording
        WHERE files.state = 'trace'
    ),
    counted AS (
        SELECT
            sums.*,
            boundaries.end_ns,
            boundaries.source,
            boundaries.confidence,
            row_number() OVER (PARTITION BY sums.thread ORDER BY sums.start_ns) AS step,
            boundaries.end_ns - sums.start_ns AS dur_ns,
            coalesce(passes.backwards, 0) AS backwards,
            coalesce(evaluated.dur_ns, 0) AS evaluation_ns,
            saves.start_ns IS NOT NULL AS saves,
            coalesce(marked.compiles, FALSE) AS compiles,
            coalesce(marked.profiles, FALSE) AS profiles
        FROM sums
        JOIN boundaries ON boundaries.thread = sums.thread AND boundaries.start_ns = sums.start_ns
        LEFT JOIN passes ON passes.thread = sums.thread AND passes.start_ns = sums.start_ns
        LEFT JOIN evaluated ON evaluated.thread = sums.thread AND evaluated.start_ns = sums.start_ns
        LEFT JOIN saves ON saves.thread = sums.thread AND saves.start_ns = sums.start_ns
        LEFT JOIN marked ON marked.thread = sums.thread AND marked.start_ns = sums.start_ns
    ),
    usual AS (
        SELECT
            thread,
            greatest(median(dur_ns) + 5 * mad(dur_ns), 1.2 * median(dur_ns)) AS long_ns,
            median(dur_ns) AS median_ns,
            median(batches - backwards) AS idle_batches,
            median(backwards) AS backwards
        FROM counted
        GROUP BY ALL
    ),
    firsts AS (
        SELECT counted.thread, min(counted.step) AS step
        FROM counted
        JOIN usual ON usual.thread = counted.thread
        WHERE (counted.step > 1 OR counted.thread IN (SELECT thread FROM traces)) AND counted.dur_ns <= usual.long_ns
        GROUP BY ALL
    ),
    later AS (
        SELECT thread, quantile_cont(dur_ns, 0.95) AS dur_ns
        FROM counted
        WHERE step > 10
        GROUP BY thread
        HAVING count(*) >= 10
    ),
    early AS (
        SELECT counted.thread, max(counted.step) AS step
        FROM counted
        JOIN usual ON usual.thread = counted.thread
        JOIN later ON later.thread = counted.thread
        WHERE counted.step <= 10
            AND NOT counted.saves
            AND NOT counted.profiles
            AND counted.dur_ns > 2 * greatest(usual.long_ns, later.dur_ns)
        GROUP BY counted.thread
    ),
    judged AS (
        SELECT
            counted.*,
            counted.step < firsts.step
                OR counted.step <= early.step
                OR (counted.compiles AND counted.dur_ns > usual.long_ns) AS warms_up,
            counted.dur_ns > usual.long_ns AS is_long,
            usual.backwards > 0 AND CASE counted.source
                WHEN 'DataLoader' THEN counted.backwards = 0 AND counted.dur_ns >= 0.2 * usual.median_ns
                ELSE counted.batches - counted.backwards >= usual.idle_batches + 2
            END AS evaluates
        FROM counted
        JOIN usual ON usual.thread = counted.thread
        LEFT JOIN firsts ON firsts.thread = counted.thread
        LEFT JOIN early ON early.thread = counted.thread
    ),
    windows AS (
        SELECT
            recording,
            start_ns,
            end_ns,
            coalesce(
                sum(dur_ns) OVER (
                    PARTITION BY recording
                    ORDER BY start_ns
                    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
                ),
                0
            ) AS before_ns
        FROM detail_windows
    ),
    -- Steps of recordings with windows, and how long there was detail before they began, and before they ended.
    begun AS (
        SELECT
            numbers.recording,
            boundaries.thread,
            boundaries.start_ns,
            boundaries.end_ns,
            windows.end_ns AS window_end_ns,
            coalesce(windows.before_ns + least(boundaries.start_ns, windows.end_ns) - windows.start_ns, 0) AS before_ns
        FROM boundaries
        JOIN _thread_numbers AS numbers ON numbers.thread = boundaries.thread
        SEMI JOIN _detail ON _detail.recording = numbers.recording
        ASOF LEFT JOIN windows ON windows.recording = numbers.recording AND windows.start_ns <= boundaries.start_ns
    ),
    ended AS (
        SELECT
            begun.thread,
            begun.start_ns,
            coalesce(begun.window_end_ns >= begun.end_ns, FALSE) AS detailed,
            coalesce(windows.before_ns + least(begun.end_ns, windows.end_ns) - windows.start_ns, 0) - begun.before_ns
                AS detail_ns
        FROM begun
        ASOF LEFT JOIN windows ON windows.recording = begun.recording AND windows.start_ns <= begun.end_ns
    )
SELECT
    numbers.recording, -- recording
    numbers.pid, -- process
    numbers.tid, -- training thread
    judged.step, -- number of the step, from 1
    judged.start_ns, -- [ns] when it began
    judged.end_ns, -- [ns] when it ended
    judged.dur_ns, -- [ns] wall time
    judged.data_loading_ns, -- [ns] of it waiting for data
    judged.gpu_compute_ns, -- [ns] of it in compute and waits for the GPU
    judged.nccl_collective_ns, -- [ns] of it in NCCL calls and waits for collectives
    judged.optimizer_step_ns, -- [ns] of it in the optimizer
    judged.unknown_ns, -- [ns] of it in anything else
    CAST(CASE WHEN judged.evaluates AND judged.source = 'DataLoader' THEN judged.dur_ns ELSE judged.evaluation_ns END
        AS BIGINT) AS evaluation_ns, -- [ns] of it in evaluation loops, whatever the phase
    judged.batches, -- batches fetched in it
    judged.source, -- what the boundary is: Optimizer.step, DataLoader, `role of ...` or `periodicity of ...` a call
    judged.confidence, -- how sure the boundary is: 1 for regions, 0.5 to 1 where it follows from what repeats
    CASE
        WHEN judged.warms_up OR (judged.step = 1 AND judged.thread NOT IN (SELECT thread FROM traces)) THEN 'warmup'
        WHEN judged.profiles AND judged.is_long THEN 'profiler'
        WHEN judged.saves AND judged.is_long THEN 'checkpoint'
        WHEN judged.evaluates THEN 'evaluation'
        ELSE 'train'
    END AS step_kind, -- warmup, train, evaluation, checkpoint or profiler
    coalesce(ended.detailed, TRUE) AS detailed, -- whether all of it lies in a window of detail, or there are no windows
    coalesce(ended.detail_ns / judged.dur_ns, 1) AS detail_share -- share of it with detail, 0 to 1
FROM judged
JOIN _thread_numbers AS numbers ON numbers.thread = judged.thread
LEFT JOIN ended ON ended.thread = judged.thread AND ended.start_ns = judged.start_ns
ORDER BY judged.thread, judged.start_ns
