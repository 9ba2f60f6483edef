-- What collectives of a step cost that are too many: one row per training process that sends any.
--
-- Compared is with as few of the usual bucket's size as hold the same bytes. Where nothing runs beside them, one costs
-- what its process takes for a call, or a round trip of the GPUs if that takes longer. A round trip is the shortest
-- that was seen of a small collective with no work beside it, such as a barrier; where none was seen 20 us are assumed.
--
-- needs: _rare_events, _nccl_calls, _syncs, step_work, _communication
-- digest: kept
CREATE TABLE _small_collectives AS
WITH
    constants AS (
        SELECT
            4194304 AS small_bytes, -- [bytes] a collective below this is small
            26214400 AS bucket_bytes, -- [bytes] of DDP's usual bucket
            65536 AS barrier_bytes, -- [bytes] a collective up to this takes a round trip
            20000 AS round_trip_ns, -- [ns] of one collective on the GPUs, where none was seen alone
            50000 AS max_round_trip_ns -- [ns] the same, for the bound
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
    )
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
    costs.alone, -- whether most of them have no other work beside them
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
    END AS bound_ns -- [ns] of a step, of all, at the very most
FROM costs
CROSS JOIN constants
