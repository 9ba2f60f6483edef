-- Training threads: those that run an optimizer, read a DataLoader, or repeat what they do on the GPU.
--
-- The last may be engines that infer; `purpose` says so.
--
-- Steady figures and percentiles are of the steps of kind `train`: without warm-up (workers, caches, allocation),
-- evaluation, checkpoints and the profiler's begins and ends.
--
-- needs: _pieces, steps, _intervals, _thread_numbers, _purposes, _optimizer_rounds
-- digest: kept
CREATE TABLE training_threads AS
WITH
    spans AS (
        SELECT thread, min(start_ns) AS first_ns, max(end_ns) AS last_ns
        FROM _pieces
        GROUP BY ALL
    ),
    calls AS (
        SELECT
            thread,
            count(CASE WHEN part = 'optimizer_step' THEN 1 END) AS optimizer_calls,
            count(CASE WHEN part = 'data_wait' THEN 1 END) AS batches,
            bool_or(in_process) AS loads_in_process,
            arg_min(part, (start_ns, -end_ns)) IN ('compute', 'gpu_wait', 'collective') AS begins_early
        FROM _intervals
        GROUP BY ALL
    ),
    durations AS (
        SELECT
            recording,
            pid,
            tid,
            count(*) AS steps,
            any_value(source) AS source,
            any_value(confidence) AS confidence,
            coalesce(
                quantile_cont(CASE WHEN step_kind = 'train' THEN dur_ns END, [0.5, 0.9, 0.99]),
                quantile_cont(dur_ns, [0.5, 0.9, 0.99])
            ) AS q,
            max(CASE WHEN step = 1 THEN dur_ns END) AS first_step_ns,
            count(CASE WHEN step_kind = 'warmup' THEN 1 END) AS warmup_steps,
            sum(CASE WHEN step_kind = 'warmup' THEN dur_ns END) AS warmup_ns,
            max(CASE WHEN step_kind = 'warmup' THEN step END) AS last_warmup_step,
            count(CASE WHEN step_kind = 'checkpoint' THEN 1 END) AS checkpoint_steps,
            sum(CASE WHEN step_kind = 'checkpoint' THEN dur_ns END) AS checkpoint_ns,
            count(CASE WHEN step_kind = 'profiler' THEN 1 END) AS profiler_steps,
            sum(CASE WHEN step_kind = 'profiler' THEN dur_ns END) AS profiler_ns,
            count(CASE WHEN step_kind = 'train' THEN 1 END) AS steady_steps,
            sum(CASE WHEN step_kind = 'train' THEN dur_ns END) AS steady_ns,
            sum(CASE WHEN step_kind = 'train' THEN data_loading_ns END) AS steady_data_ns
        FROM steps
        GROUP BY ALL
    )
SELECT
    numbers.recording, -- recording
    numbers.pid, -- process
    numbers.tid, -- thread
    spans.first_ns, -- [ns] start of its first call
    spans.last_ns, -- [ns] end of its last call
    spans.last_ns - spans.first_ns AS wall_ns, -- [ns] between the two
    calls.optimizer_calls, -- calls of Optimizer.step
    calls.batches, -- calls of DataLoader __next__
    coalesce(calls.loads_in_process, FALSE) AS loads_in_process, -- whether it loads data itself (num_workers=0)
    coalesce(durations.steps, 0) AS steps, -- steps
    durations.source AS step_source, -- what ends a step: Optimizer.step, DataLoader, `role of` or `periodicity of`
    durations.confidence AS step_confidence, -- how sure that is, 0.5 to 1; 1 for regions
    CAST(durations.q[1] AS BIGINT) AS step_p50_ns, -- [ns] median step of kind train; of all where there is none
    CAST(durations.q[2] AS BIGINT) AS step_p90_ns, -- [ns] 90th percentile
    CAST(durations.q[3] AS BIGINT) AS step_p99_ns, -- [ns] 99th percentile
    durations.first_step_ns, -- [ns] the first step
    coalesce(durations.source = 'Optimizer.step' AND calls.begins_early, FALSE)
        AS starts_up, -- whether that begins with the first call of the GPU rather than a batch, so start-up is in it
    coalesce(durations.warmup_steps, 0) AS warmup_steps, -- steps that compile or warm up
    CAST(durations.warmup_ns AS BIGINT) AS warmup_ns, -- [ns] wall time of them
    durations.last_warmup_step, -- number of the last of them
    coalesce(durations.checkpoint_steps, 0) AS checkpoint_steps, -- steps that are longer by a checkpoint
    CAST(durations.checkpoint_ns AS BIGINT) AS checkpoint_ns, -- [ns] wall time of them
    coalesce(durations.profiler_steps, 0) AS profiler_steps, -- steps that are longer by a profiler
    CAST(durations.profiler_ns AS BIGINT) AS profiler_ns, -- [ns] wall time of them
    coalesce(durations.steady_steps, 0) AS steady_steps, -- steps of kind train
    CAST(durations.steady_ns AS BIGINT) AS steady_ns, -- [ns] wall time of them
    CAST(durations.steady_data_ns AS BIGINT) AS steady_data_ns, -- [ns] of it, waiting for data
    coalesce(purposes.purpose, 'training') AS purpose, -- training, inference, or unknown where neither is told
    rounds.text AS step_calls -- which calls of Optimizer.step make a step, where that is not each of one optimizer
FROM spans
JOIN calls ON calls.thread = spans.thread
JOIN _thread_numbers AS numbers ON numbers.thread = spans.thread
LEFT JOIN durations
    ON durations.recording = numbers.recording
    AND durations.pid = numbers.pid
    AND durations.tid = numbers.tid
LEFT JOIN _optimizer_rounds AS rounds ON rounds.thread = spans.thread AND durations.source = 'Optimizer.step'
LEFT JOIN _purposes AS purposes ON purposes.recording = numbers.recording AND purposes.pid = numbers.pid
ORDER BY numbers.thread
