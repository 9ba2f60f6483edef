-- What collectives of a step cost that are too many: one row per training process that sends any.
--
-- Compared is with as few of the usual bucket's size as hold the same bytes. Where nothing runs beside them, one costs
-- what its process takes for a call, or a round trip of the GPUs if that takes longer. A round trip is the shortest
-- that was seen of a small collective with no work beside it, such as a barrier; where none was seen 20 us are assumed.
-- Without NCCL, as with gloo, a loop of collectives waits for each in the same order in every step. How many bytes one
-- sends is not known, so one costs what the shortest of the step take, by the means of each place in the order: one in
-- ten takes no longer. Waits that return at once, as for what was sent earlier, so cost nothing, and one would do.
--
-- By a trace one costs what its call takes, or the shortest on the GPU if that is longer, but no more than a round trip
-- at most: one in ten takes no longer. At most lost is the time in which the GPU computes nothing. Newer traces say how
-- many bytes are sent; in others one is small that takes less than a tenth of a millisecond, and one would do.
--
-- needs: _rare_events, _nccl_calls, _syncs, step_work, _communication, gpu_activity, gpu_time, _step_spans, files
-- digest: kept
CREATE TABLE _small_collectives AS
WITH
    constants AS (
        SELECT
            4194304 AS small_bytes, -- [bytes] a collective below this is small
            26214400 AS bucket_bytes, -- [bytes] of DDP's usual bucket
            65536 AS barrier_bytes, -- [bytes] a collective up to this takes a round trip
            20000 AS round_trip_ns, -- [ns] of one collective on the GPUs, where none was seen alone
            50000 AS max_round_trip_ns, -- [ns] the same, for the bound
            20 AS loop_waits, -- waits of a step from which on they are a loop, without NCCL
            0.1 AS alike, -- of these, by which steps may differ
            100000 AS small_ns -- [ns] on the GPU, below which one of unknown size is small
    ),
    sent AS (
        SELECT recording, pid, ts_ns, bytes, dur_ns
        FROM _nccl_calls
        WHERE kind = 'nccl'
            AND coalesce(grouped, 0) = 0
            AND bytes IS NOT NULL
            AND name NOT IN ('ncclSend', 'ncclRecv')
    ),
    round_trips AS (
        SELECT min(_syncs.end_ns - _syncs.first_collective_ns) AS round_trip_ns
        FROM _syncs
        JOIN sent
            ON sent.recording = _syncs.recording
            AND sent.pid = _syncs.pid
            AND sent.ts_ns = _syncs.first_collective_ns
        CROSS JOIN constants
        WHERE _syncs.only_collectives AND _syncs.collectives = 1 AND sent.bytes <= constants.barrier_bytes
    ),
    calls AS (
        SELECT recording, pid, ts_ns, bytes, dur_ns AS call_ns, NULL AS bucket_ns, NULL AS wait_ns
        FROM sent
        UNION ALL
        SELECT
            recording,
            pid,
            ts_ns,
            NULL,
            NULL,
            CASE WHEN kind = 'region' THEN dur_ns END,
            CASE WHEN kind = 'dist_wait' THEN dur_ns END
        FROM _rare_events
        WHERE kind = 'dist_wait' OR (kind = 'region' AND name = 'c10d::Reducer::all_reduce_bucket')
    ),
    counted AS (
        SELECT
            spans.recording,
            spans.pid,
            count(calls.bytes) AS collectives,
            count(CASE WHEN calls.bytes < constants.small_bytes THEN 1 END) AS small,
            sum(calls.bytes) AS bytes,
            greatest(coalesce(sum(calls.bucket_ns), 0), coalesce(sum(calls.call_ns), 0)) AS call_ns,
            coalesce(sum(calls.wait_ns), 0) AS wait_ns,
            quantile_cont(calls.bytes, 0.5) AS median_bytes
        FROM calls
        ASOF JOIN step_work AS spans
            ON spans.recording = calls.recording
            AND spans.pid = calls.pid
            AND spans.start_ns <= calls.ts_ns
        CROSS JOIN constants
        WHERE calls.ts_ns < spans.end_ns AND spans.step_kind <> 'warmup'
        GROUP BY spans.recording, spans.pid
    ),
    costs AS (
        SELECT
            work.recording,
            work.pid,
            work.tid,
            work.steps,
            work.step_ns,
            counted.small / work.steps AS small,
            counted.collectives / work.steps AS collectives,
            ceil(counted.bytes / work.steps / constants.bucket_bytes) AS enough,
            counted.median_bytes,
            counted.call_ns / work.steps AS call_ns,
            counted.wait_ns / work.steps AS wait_ns,
            round_trips.round_trip_ns,
            -- Most of them run with nothing beside.
            2 * work.alone >= counted.collectives / work.steps AS alone,
            work.alone_ns / nullif(work.alone, 0) AS each_ns
        FROM counted
        JOIN _communication AS work ON work.recording = counted.recording AND work.pid = counted.pid
        CROSS JOIN constants
        CROSS JOIN round_trips
        WHERE counted.collectives > 0
    ),
    waits AS (
        SELECT
            spans.recording,
            spans.pid,
            spans.step,
            calls.ts_ns,
            calls.dur_ns,
            row_number() OVER in_step AS place,
            count(*) OVER (PARTITION BY spans.recording, spans.pid, spans.step) AS waits,
            lead(calls.ts_ns) OVER in_step - calls.ts_ns - calls.dur_ns AS gap_ns
        FROM (
            SELECT recording, pid, ts_ns, dur_ns
            FROM _rare_events
            WHERE kind = 'dist_wait' AND dur_ns > 0 AND regexp_matches(name, '^(Work::wait$|gloo:|mpi:)')
        ) AS calls
        ASOF JOIN step_work AS spans
            ON spans.recording = calls.recording
            AND spans.pid = calls.pid
            AND spans.start_ns <= calls.ts_ns
        WHERE calls.ts_ns < spans.end_ns AND spans.step_kind <> 'warmup'
        WINDOW in_step AS (PARTITION BY spans.recording, spans.pid, spans.step ORDER BY calls.ts_ns)
    ),
    -- Most steps have about as many: one that came to an end before its wait is none.
    alike AS (
        SELECT waits.*
        FROM waits
        CROSS JOIN constants
        QUALIFY abs(
            waits.waits - quantile_disc(waits.waits, 0.5) FILTER (waits.place = 1) OVER (PARTITION BY recording, pid)
        ) <= constants.alike * waits.waits
    ),
    places AS (
        SELECT
            recording,
            pid,
            place,
            avg(dur_ns) AS mean_ns,
            sum(dur_ns) AS wait_ns,
            -- Between two of a loop there is less than one of them takes.
            sum(least(coalesce(gap_ns, 0), dur_ns)) AS gap_ns,
            count(*) AS waits
        FROM alike
        GROUP BY ALL
    ),
    loops AS (
        SELECT
            recording,
            pid,
            max(waits) AS loop_steps,
            sum(waits) / loop_steps AS waits,
            quantile_cont(mean_ns, 0.1) AS each_ns,
            sum(wait_ns) / loop_steps AS wait_ns,
            sum(gap_ns) / loop_steps AS gap_ns
        FROM places
        GROUP BY recording, pid
    ),
    -- Of a trace a wait is where no operator runs, so of one collective there may be several.
    ranges AS (
        SELECT recording, pid, ts_ns AS at_ns
        FROM _rare_events
        WHERE kind = 'region'
            AND regexp_matches(name, '^(gloo|mpi):')
            AND recording IN (SELECT recording FROM files WHERE state = 'trace')
    ),
    trained AS (
        SELECT recording, pid, count(*) AS steps
        FROM _step_spans
        WHERE trains
        GROUP BY recording, pid
    ),
    fragments AS (
        SELECT trained.recording, trained.pid
        FROM trained
        JOIN in_spans(ranges, _step_spans) AS placed
            ON placed.recording = trained.recording
            AND placed.pid = trained.pid
        CROSS JOIN constants
        WHERE placed.trains
        GROUP BY trained.recording, trained.pid
        HAVING count(*) < any_value(constants.loop_waits * trained.steps)
    ),
    -- Collectives on the GPUs of a trace.
    kernels AS (
        SELECT recording, pid, device, start_ns AS at_ns, dur_ns, bytes
        FROM gpu_activity
        WHERE work = 'communication'
            AND NOT contains(name, 'SendRecv')
            AND recording IN (SELECT recording FROM files WHERE state = 'trace')
    ),
    traced AS (
        SELECT
            placed.recording,
            placed.pid,
            placed.device,
            count(*) AS collectives,
            count_if(coalesce(placed.bytes < constants.small_bytes, placed.dur_ns < constants.small_ns)) AS small,
            CASE WHEN count(placed.bytes) = count(*) THEN sum(placed.bytes) END AS bytes,
            quantile_cont(placed.bytes, 0.5) AS median_bytes,
            quantile_cont(placed.dur_ns, 0.1) AS each_ns,
            sum(placed.dur_ns) AS sum_ns
        FROM in_spans(kernels, _step_spans) AS placed
        CROSS JOIN constants
        WHERE placed.trains
        GROUP BY placed.recording, placed.pid, placed.device
        QUALIFY row_number() OVER (
            PARTITION BY placed.recording, placed.pid
            ORDER BY count(*) DESC, placed.device
        ) = 1
    ),
    enqueued AS (
        SELECT recording, pid, median(dur_ns) AS call_ns
        FROM _rare_events
        WHERE kind = 'nccl' AND dur_ns > 0 AND NOT regexp_matches(name, 'send|recv|coalesced', 'i')
        GROUP BY recording, pid
    ),
    traced_costs AS (
        SELECT
            traced.recording,
            traced.pid,
            work.tid,
            trained.steps,
            work.step_ns,
            traced.small / trained.steps AS small,
            traced.collectives / trained.steps AS collectives,
            coalesce(ceil(traced.bytes / trained.steps / constants.bucket_bytes), 1) AS enough,
            traced.median_bytes,
            coalesce(enqueued.call_ns, 0) * traced.collectives / trained.steps AS call_ns,
            traced.each_ns,
            least(traced.each_ns, constants.max_round_trip_ns) AS round_trip_ns,
            traced.sum_ns / trained.steps AS sum_ns,
            (times.idle_share + times.exposed_communication_share) * work.step_ns AS free_ns
        FROM traced
        JOIN trained ON trained.recording = traced.recording AND trained.pid = traced.pid
        JOIN _communication AS work ON work.recording = traced.recording AND work.pid = traced.pid
        JOIN gpu_time AS times
            ON times.recording = traced.recording
            AND times.pid = traced.pid
            AND times.device = traced.device
        LEFT JOIN enqueued ON enqueued.recording = traced.recording AND enqueued.pid = traced.pid
        CROSS JOIN constants
    )
SELECT
    recording,
    pid,
    tid,
    steps,
    step_ns,
    small,
    collectives,
    enough,
    median_bytes,
    call_ns,
    NULL AS round_trip_ns,
    -- Most of it is time of the CPU.
    FALSE AS alone,
    FALSE AS on_cpu,
    TRUE AS by_trace,
    least(greatest(collectives - enough, 0) * greatest(call_ns / collectives, round_trip_ns), free_ns) AS lost_ns,
    least(call_ns + sum_ns, free_ns) AS bound_ns,
    each_ns
FROM traced_costs
UNION ALL BY NAME
SELECT
    loops.recording,
    loops.pid,
    work.tid,
    work.steps,
    work.step_ns,
    loops.waits AS small,
    loops.waits AS collectives,
    1 AS enough,
    NULL AS median_bytes,
    loops.wait_ns AS call_ns,
    NULL AS round_trip_ns,
    TRUE AS alone,
    TRUE AS on_cpu,
    FALSE AS by_trace,
    least((loops.waits - 1) * loops.each_ns, work.exposed_ns) AS lost_ns,
    least(greatest(loops.wait_ns + loops.gap_ns, lost_ns), work.step_ns) AS bound_ns,
    loops.each_ns
FROM loops
JOIN _communication AS work ON work.recording = loops.recording AND work.pid = loops.pid
CROSS JOIN constants
-- Most steps are alike.
WHERE work.on_cpu
    AND loops.waits >= constants.loop_waits
    AND 2 * loops.loop_steps >= work.steps
    AND (loops.recording, loops.pid) NOT IN (SELECT (recording, pid) FROM fragments)
UNION ALL BY NAME
SELECT
    costs.recording, -- recording
    costs.pid, -- process
    costs.tid, -- training thread
    costs.steps, -- steps, without warm-up
    costs.step_ns, -- [ns] mean step
    costs.small, -- small collectives of a step
    costs.collectives, -- all of a step
    costs.enough, -- as many would do
    costs.median_bytes, -- [bytes] median collective
    costs.call_ns, -- [ns] time in the calls of a step
    costs.round_trip_ns, -- [ns] shortest round trip that was seen; NULL when none was
    costs.alone, -- whether most of them have no other work beside them; FALSE by a trace, where their calls cost time
    FALSE AS on_cpu, -- whether it is without NCCL, where bytes and round trips are not known
    FALSE AS by_trace, -- whether a profiler's trace tells
    greatest(costs.collectives - costs.enough, 0) * CASE
        WHEN costs.alone
            THEN least(
                costs.each_ns,
                greatest(costs.call_ns / costs.collectives, coalesce(costs.round_trip_ns, constants.round_trip_ns))
            )
        ELSE greatest(costs.call_ns / costs.collectives, coalesce(costs.round_trip_ns, constants.round_trip_ns))
    END AS lost_ns, -- [ns] of a step, of those that are too many
    CASE
        WHEN costs.alone THEN costs.each_ns * costs.collectives
        ELSE least(
            costs.call_ns + costs.wait_ns
                + costs.collectives * greatest(constants.max_round_trip_ns, coalesce(costs.round_trip_ns, 0)),
            0.9 * costs.step_ns
        )
    END AS bound_ns, -- [ns] of a step, of all, at the very most
    NULL AS each_ns -- [ns] what one costs, where it is without NCCL; by a trace what the shortest take on the GPU
FROM costs
CROSS JOIN constants
