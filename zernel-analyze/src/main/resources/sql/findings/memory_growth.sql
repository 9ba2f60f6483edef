-- GPU memory grows from step to step. At the end of each step more is in use than at the end of the one before.
--
-- Looked at is what PyTorch has handed out at the end of each step, or what was allocated from the driver where that is
-- unknown, in the second half of the steps, after warm-up. The growth must be steady, not a single rise. Where
-- PyTorch's allocator was recorded in windows, it must hand out more pieces in a detailed step than are given back.
-- There, what it keeps of most detailed steps all through the second half tells as well, where the driver was asked for
-- more memory too: PyTorch asks for much at once, so that this rises seldom. Kept is what a later step of the window
-- did not give back.
-- A memory that is full within the hour, and within ten times as long as it was seen to grow, comes before all that is
-- only slow: no faster step helps a job that ends without memory.
-- Does not apply to caches that fill up and stop, if the recording is long enough to see the stop.
--
-- needs: step_memory, steps, gpus, files, events, _step_spans, _detail
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
            5 AS min_detailed, -- detailed steps in the second half, which tell what is kept
            0.5 AS min_spread, -- of the second half, from the first of them to the last
            0.75 AS min_keeping, -- share of them that keep pieces
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
    ends AS (
        SELECT recording, max(until_ns) AS end_ns
        FROM _step_spans
        GROUP BY recording
    ),
    -- After the last step the job may have given all of it back.
    used AS (
        SELECT events.recording, events.device, arg_max(events.value, (events.ts_ns, events.value)) AS bytes
        FROM events
        JOIN ends ON ends.recording = events.recording AND events.ts_ns <= ends.end_ns
        WHERE events.kind = 'gpu_sample' AND events.name = 'memory_used'
        GROUP BY events.recording, events.device
    ),
    room AS (
        SELECT gpus.recording, max(gpus.memory_bytes) - max(used.bytes) AS free_bytes
        FROM gpus
        JOIN used ON used.recording = gpus.recording AND used.device = gpus.device
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
        SELECT
            recording,
            pid,
            ts_ns AS at_ns,
            CASE kind WHEN 'torch_alloc' THEN 1 ELSE -1 END AS pieces,
            addr,
            device AS gpu,
            bytes
        FROM events
        WHERE (kind IN ('torch_alloc', 'torch_free')) IS TRUE AND recording IN (SELECT recording FROM windowed)
    ),
    halves AS (
        SELECT
            recording,
            pid,
            step,
            from_ns,
            until_ns,
            detailed AND trains AS is_known,
            2 * step > max(step) OVER (PARTITION BY recording, pid) AS late
        FROM _step_spans
        WHERE recording IN (SELECT recording FROM windowed)
    ),
    -- Detailed steps that follow each other have the same `run`.
    detailed_steps AS (
        SELECT
            recording,
            pid,
            step,
            late,
            step - row_number() OVER (PARTITION BY recording, pid, late ORDER BY step) AS run,
            from_ns,
            until_ns
        FROM halves
        WHERE is_known
    ),
    stepped AS MATERIALIZED (
        SELECT recording, pid, step, late, run, at_ns, pieces, addr, gpu, bytes
        FROM in_spans(calls, detailed_steps)
    ),
    balances AS (
        SELECT recording, pid, late, step, sum(pieces) AS pieces
        FROM stepped
        GROUP BY recording, pid, late, step
    ),
    kept AS (
        SELECT recording, pid, avg(pieces) AS pieces
        FROM balances
        GROUP BY recording, pid
    ),
    keeping AS (
        SELECT
            recording,
            pid,
            count(*) AS steps,
            max(step) - min(step) + 1 AS spread,
            count(*) FILTER (WHERE pieces > 0) / count(*) AS share,
            avg(pieces) AS pieces
        FROM balances
        WHERE late
        GROUP BY recording, pid
    ),
    runs AS (
        SELECT recording, pid, run, min(step) AS first_step, max(step) AS last_step
        FROM detailed_steps
        WHERE late
        GROUP BY recording, pid, run
    ),
    followed AS (
        SELECT recording, pid, sum(last_step - first_step) AS steps
        FROM runs
        GROUP BY recording, pid
    ),
    -- What was last done with each address in a run.
    addresses AS (
        SELECT
            recording,
            pid,
            run,
            addr,
            arg_max({'step': step, 'pieces': pieces, 'gpu': gpu, 'bytes': bytes}, at_ns) AS latest
        FROM stepped
        WHERE late
        GROUP BY recording, pid, run, addr
    ),
    -- Handed out in a step, and not given back until the next one ended.
    outlived AS (
        SELECT addresses.recording, addresses.pid, latest.gpu AS device, count(*) AS pieces, sum(latest.bytes) AS bytes
        FROM addresses
        JOIN runs
            ON runs.recording = addresses.recording
            AND runs.pid = addresses.pid
            AND runs.run = addresses.run
        WHERE latest.pieces > 0 AND latest.step < runs.last_step
        GROUP BY addresses.recording, addresses.pid, latest.gpu
    ),
    hoards AS (
        SELECT
            keeping.recording,
            keeping.pid,
            outlived.device,
            keeping.steps,
            keeping.spread,
            -- Pieces that wait for their use, such as batches fetched ahead, outlive a step too, and are given back.
            outlived.bytes / followed.steps * least(1, keeping.pieces * followed.steps / outlived.pieces) AS step_bytes
        FROM keeping
        JOIN followed ON followed.recording = keeping.recording AND followed.pid = keeping.pid
        JOIN outlived ON outlived.recording = keeping.recording AND outlived.pid = keeping.pid
        CROSS JOIN thresholds
        WHERE followed.steps > 0
            AND keeping.steps >= thresholds.min_detailed
            AND keeping.share >= thresholds.min_keeping
    ),
    rates AS (
        SELECT
            lines.recording,
            lines.pid,
            lines.device,
            lines.by_torch,
            lines.steps,
            lines.r2,
            lines.first_bytes,
            lines.last_bytes,
            hoards.steps AS detailed_steps,
            lines.r2 >= thresholds.min_r2
                AND lines.last_bytes - lines.first_bytes
                    >= greatest(thresholds.min_bytes, thresholds.min_growth * lines.first_bytes)
                AND coalesce(kept.pieces >= thresholds.min_pieces, TRUE) AS by_line,
            CASE WHEN by_line THEN lines.slope_bytes ELSE hoards.step_bytes END AS slope_bytes,
            coalesce(
                NOT lines.by_torch
                    AND hoards.spread >= thresholds.min_spread * lines.steps
                    AND lines.last_bytes - lines.first_bytes >= thresholds.min_bytes
                    AND lines.steps * hoards.step_bytes
                        >= greatest(thresholds.min_bytes, thresholds.min_growth * lines.first_bytes),
                FALSE
            ) AS by_windows
        FROM lines
        LEFT JOIN kept ON kept.recording = lines.recording AND kept.pid = lines.pid
        LEFT JOIN hoards
            ON hoards.recording = lines.recording
            AND hoards.pid = lines.pid
            AND hoards.device IS NOT DISTINCT FROM lines.device
        CROSS JOIN thresholds
        WHERE lines.steps >= thresholds.min_steps AND lines.slope_bytes > 0
    ),
    growing AS (
        SELECT
            rates.*,
            CAST(room.free_bytes / rates.slope_bytes AS BIGINT) AS steps_left,
            room.free_bytes / rates.slope_bytes * paces.minutes AS minutes_left,
            rates.steps * paces.minutes AS seen_minutes
        FROM rates
        LEFT JOIN room ON room.recording = rates.recording
        LEFT JOIN paces ON paces.recording = rates.recording AND paces.pid = rates.pid
        WHERE rates.by_line OR rates.by_windows
    )
SELECT
    recording, -- recording
    pid, -- process
    thread_label(recording, pid, pid) || coalesce(format(' device {}', device), '') AS subject, -- process and GPU
    round(slope_bytes / 1e6, 3) AS value, -- megabytes per step
    'MB per step' AS unit, -- unit of value
    CASE WHEN steps_left < 10000 THEN 'high' ELSE 'medium' END AS severity, -- high or medium
    CASE
        WHEN by_line
        THEN format('{} at the end of steps rose from {} to {} in {} steps (r2 {:.2f})',
            CASE WHEN by_torch THEN 'what PyTorch handed out' ELSE 'device memory' END,
            size(first_bytes), size(last_bytes), steps, r2)
        ELSE format('PyTorch keeps {} of each of {} detailed steps of the last {}, in which device memory rose '
            'from {} to {}', size(slope_bytes), detailed_steps, steps, size(first_bytes), size(last_bytes))
    END
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
