-- GPU memory grows from step to step. At the end of each step more is in use than at the end of the one before.
--
-- Looked at is what PyTorch has handed out at the end of each step, or what was allocated from the driver where that is
-- unknown, in the second half of the steps, after warm-up. The growth must be steady, not a single rise. Where
-- PyTorch's allocator was recorded in windows, it must hand out more pieces in a detailed step than are given back.
-- A memory that is full within the hour, and within ten times as long as it was seen to grow, comes before all that is
-- only slow: no faster step helps a job that ends without memory.
-- Does not apply to caches that fill up and stop, if the recording is long enough to see the stop.
--
-- needs: step_memory, steps, gpus, gpu_usage, files, events, _step_spans, _detail
-- severity: high when the memory is full within 10,000 steps, else medium
-- hint: torch.cuda.memory._record_memory_history() says which code allocated
-- lines: the bytes allocated BY bytes WHERE kind = 'gpu_alloc'
WITH
    thresholds AS (
        SELECT
            10 AS min_steps, -- steps in the second half
            0.9 AS min_r2, -- how straight the line is
            0.02 AS min_growth, -- over the second half, as a share of the level
            1048576 AS min_bytes, -- [bytes] over the second half
            0.02 AS min_pieces, -- kept of a step, where PyTorch's allocator was recorded in windows
            60 AS soon_minutes, -- minutes until the memory is full that are few
            10 AS ahead -- times as long as growth was seen, it is trusted to go on
    ),
    levels AS (
        SELECT
            recording,
            pid,
            device,
            step,
            coalesce(allocated_bytes, live_bytes) AS bytes,
            allocated_bytes IS NOT NULL AS by_torch,
            max(step) OVER (PARTITION BY recording, pid, device) AS last_step
        FROM step_memory
    ),
    lines AS (
        SELECT
            recording,
            pid,
            device,
            bool_and(by_torch) AS by_torch,
            count(*) AS steps,
            regr_slope(bytes, step) AS slope_bytes,
            regr_r2(bytes, step) AS r2,
            arg_min(bytes, step) AS first_bytes,
            arg_max(bytes, step) AS last_bytes
        FROM levels
        WHERE 2 * step > last_step AND bytes IS NOT NULL
        GROUP BY recording, pid, device
    ),
    room AS (
        SELECT gpus.recording, max(gpus.memory_bytes) - max(used.last_value) AS free_bytes
        FROM gpus
        JOIN gpu_usage AS used
            ON used.recording = gpus.recording
            AND used.device = gpus.device
            AND used.name = 'memory_used'
        GROUP BY gpus.recording
        HAVING count(DISTINCT gpus.device) = 1
    ),
    paces AS (
        SELECT recording, pid, (max(end_ns) - min(start_ns)) / (6e10 * count(*)) AS minutes
        FROM steps
        WHERE step_kind <> 'warmup'
        GROUP BY recording, pid
    ),
    windowed AS (
        SELECT DISTINCT recording
        FROM _detail
        WHERE kind LIKE 'torch\_%' ESCAPE '\'
    ),
    calls AS (
        SELECT recording, pid, ts_ns AS at_ns, CASE kind WHEN 'torch_alloc' THEN 1 ELSE -1 END AS pieces
        FROM events
        WHERE (kind IN ('torch_alloc', 'torch_free')) IS TRUE AND recording IN (SELECT recording FROM windowed)
    ),
    detailed_steps AS (
        SELECT recording, pid, step, from_ns, until_ns
        FROM _step_spans
        WHERE detailed AND trains AND recording IN (SELECT recording FROM windowed)
    ),
    kept AS (
        SELECT recording, pid, sum(pieces) / count(DISTINCT step) AS pieces
        FROM in_spans(calls, detailed_steps)
        GROUP BY recording, pid
    ),
    growing AS (
        SELECT
            lines.recording,
            lines.pid,
            lines.device,
            lines.by_torch,
            lines.steps,
            lines.slope_bytes,
            lines.r2,
            lines.first_bytes,
            lines.last_bytes,
            CAST(room.free_bytes / lines.slope_bytes AS BIGINT) AS steps_left,
            room.free_bytes / lines.slope_bytes * paces.minutes AS minutes_left,
            lines.steps * paces.minutes AS seen_minutes
        FROM lines
        LEFT JOIN room ON room.recording = lines.recording
        LEFT JOIN paces ON paces.recording = lines.recording AND paces.pid = lines.pid
        LEFT JOIN kept ON kept.recording = lines.recording AND kept.pid = lines.pid
        CROSS JOIN thresholds
        WHERE coalesce(kept.pieces >= thresholds.min_pieces, TRUE)
            AND lines.steps >= thresholds.min_steps
            AND lines.slope_bytes > 0
            AND lines.r2 >= thresholds.min_r2
            AND lines.last_bytes - lines.first_bytes
                >= greatest(thresholds.min_bytes, thresholds.min_growth * lines.first_bytes)
    )
SELECT
    recording, -- recording
    pid, -- process
    thread_label(recording, pid, pid) || coalesce(format(' device {}', device), '') AS subject, -- process and GPU
    round(slope_bytes / 1e6, 3) AS value, -- megabytes per step
    'MB per step' AS unit, -- unit of value
    CASE WHEN steps_left < 10000 THEN 'high' ELSE 'medium' END AS severity, -- high or medium
    format('{} at the end of steps rose from {} to {} in {} steps (r2 {:.2f})',
        CASE WHEN by_torch THEN 'what PyTorch handed out' ELSE 'device memory' END,
        size(first_bytes), size(last_bytes), steps, r2)
        || CASE WHEN steps_left IS NULL THEN '' ELSE format('; the GPU is full in about {} steps', steps_left) END
        AS evidence, -- what it rests on
    CASE
        WHEN minutes_left < least(soon_minutes, ahead * seen_minutes) THEN round(minutes_left, 1)
    END AS minutes_left, -- [min] until the memory is full, where that is soon; NULL otherwise
    'look for tensors that are kept: losses summed without .item() or .detach(), lists of outputs, retain_graph=True'
        AS advice, -- what to try
    'zernel-analyze memory --curve {}' AS next_command -- to see more
FROM growing
CROSS JOIN thresholds
