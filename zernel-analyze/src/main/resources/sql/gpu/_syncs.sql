-- Calls that block until the GPU is done, and what they wait for.
--
-- These are syncs, copies that are not asynchronous, and copies from the GPU to pageable memory, which return only when
-- the data is there. A sync waits for a collective when that was the last work its process had enqueued; copies to the
-- host are not counted as work, because they only fetch a result. Kernels that NCCL launches belong to its call. Where
-- launches were not recorded, or only a sample of them, the last work is not known and taken for computation. Where
-- they were recorded in windows, a wait outside is for what most waits of its thread in windows are for that have its
-- name and come after as many collectives. A wait for a collective also waits for what was enqueued before it, unless
-- another wait came between the two.
--
-- needs: _rare_events, _launched, _sampled, _detail, detail_windows
CREATE TABLE _syncs AS
WITH
    waits AS (
        SELECT
            recording,
            pid,
            tid,
            name,
            ts_ns,
            dur_ns
        FROM _rare_events
        WHERE dur_ns > 0 AND (kind = 'cuda_sync' OR blocks)
    ),
    communication AS (
        SELECT
            recording,
            pid,
            ts_ns AS start_ns,
            ts_ns + dur_ns AS at_ns,
            row_number() OVER (PARTITION BY recording, pid ORDER BY ts_ns + dur_ns) AS number
        FROM _rare_events
        WHERE kind = 'nccl' AND dur_ns IS NOT NULL
    ),
    communicating AS (
        SELECT recording, pid, min(at_ns) AS first_ns
        FROM communication
        GROUP BY ALL
    ),
    -- Other processes have no collectives to wait for.
    asking AS (
        SELECT
            waits.*,
            communicating.first_ns,
            lag(waits.ts_ns) OVER (PARTITION BY waits.recording, waits.pid ORDER BY waits.ts_ns) AS previous_ns
        FROM waits
        JOIN communicating ON communicating.recording = waits.recording AND communicating.pid = waits.pid
    ),
    enqueued AS (
        SELECT _launched.recording, _launched.pid, _launched.at_ns
        FROM _launched
        JOIN communicating
            ON communicating.recording = _launched.recording
            AND communicating.pid = _launched.pid
        WHERE _launched.recording NOT IN (SELECT recording FROM _sampled WHERE kind = 'cuda_launch')
    ),
    known AS (
        SELECT DISTINCT recording, pid
        FROM enqueued
    ),
    windowed AS (
        SELECT recording
        FROM _detail
        WHERE kind = 'cuda_launch'
    ),
    -- Kernels that a collective launches in its call, where they are recorded; a few calls tell.
    first_calls AS (
        SELECT recording, pid, number, start_ns AS from_ns, at_ns + 1 AS until_ns
        FROM communication
        WHERE number <= 50 OR recording IN (SELECT recording FROM windowed)
    ),
    kernels AS (
        SELECT recording, pid, count(*) / count(DISTINCT number) AS per_call
        FROM in_spans(enqueued, first_calls)
        GROUP BY ALL
    ),
    -- From one wait of a process to its next.
    spans AS (
        SELECT recording, pid, ts_ns, coalesce(previous_ns, first_ns) AS from_ns, ts_ns + 1 AS until_ns
        FROM asking
        WHERE ts_ns >= first_ns
    ),
    latest AS (
        SELECT recording, pid, ts_ns, max(at_ns) AS at_ns, count(*) AS launches
        FROM in_spans(enqueued, spans)
        GROUP BY ALL
    ),
    after_collectives AS (
        SELECT
            waits.*,
            communication.at_ns AS collective_ns,
            communication.number,
            communication.number
                - lag(communication.number, 1, 0) OVER (PARTITION BY waits.recording, waits.pid ORDER BY waits.ts_ns)
                AS collectives
        FROM asking AS waits
        ASOF LEFT JOIN communication
            ON communication.recording = waits.recording
            AND communication.pid = waits.pid
            AND communication.at_ns <= waits.ts_ns
    ),
    judged AS (
        SELECT
            waits.recording,
            waits.pid,
            waits.tid,
            waits.name,
            waits.ts_ns,
            waits.dur_ns,
            coalesce(
                known.pid IS NOT NULL
                AND coalesce(
                    max(latest.at_ns) OVER (PARTITION BY waits.recording, waits.pid ORDER BY waits.ts_ns),
                    0
                ) <= waits.collective_ns,
                FALSE
            ) AS for_collective,
            coalesce(
                known.pid IS NOT NULL
                    AND waits.collectives > 0
                    AND coalesce(latest.launches, 0) <= coalesce(kernels.per_call, 0) * waits.collectives,
                FALSE
            ) AS only_collectives,
            coalesce(waits.collectives, 0) AS collectives,
            CASE WHEN waits.collectives > 0 THEN firsts.start_ns END AS first_collective_ns,
            least(waits.ts_ns, waits.previous_ns, waits.collective_ns) AS since_ns
        FROM after_collectives AS waits
        LEFT JOIN communication AS firsts
            ON firsts.recording = waits.recording
            AND firsts.pid = waits.pid
            AND firsts.number = waits.number - waits.collectives + 1
        LEFT JOIN known ON known.recording = waits.recording AND known.pid = waits.pid
        LEFT JOIN kernels ON kernels.recording = waits.recording AND kernels.pid = waits.pid
        LEFT JOIN latest
            ON latest.recording = waits.recording
            AND latest.pid = waits.pid
            AND latest.ts_ns = waits.ts_ns
    ),
    -- Waits in a window, with all that was launched since the last wait and the last collective.
    seen AS (
        SELECT DISTINCT judged.recording, judged.pid, judged.ts_ns
        FROM (
            SELECT recording, pid, ts_ns, since_ns
            FROM judged
            WHERE recording IN (SELECT recording FROM windowed)
        ) AS judged
        ASOF JOIN detail_windows AS windows
            ON windows.recording = judged.recording
            AND windows.start_ns <= judged.since_ns
        WHERE windows.end_ns >= judged.ts_ns
    ),
    alike AS (
        SELECT
            judged.recording,
            judged.pid,
            judged.tid,
            judged.name,
            judged.collectives,
            avg(CASE WHEN judged.for_collective THEN 1 ELSE 0 END) > 0.5 AS for_collective,
            avg(CASE WHEN judged.only_collectives THEN 1 ELSE 0 END) > 0.5 AS only_collectives
        FROM judged
        JOIN seen ON seen.recording = judged.recording AND seen.pid = judged.pid AND seen.ts_ns = judged.ts_ns
        GROUP BY judged.recording, judged.pid, judged.tid, judged.name, judged.collectives
    )
SELECT
    judged.recording, -- recording
    judged.pid, -- process
    judged.tid, -- thread that waits
    judged.name, -- function
    judged.ts_ns AS start_ns, -- [ns] when it began to wait
    judged.ts_ns + judged.dur_ns AS end_ns, -- [ns] when it returned
    judged.dur_ns, -- [ns] blocked
    CASE
        WHEN windowed.recording IS NULL OR seen.ts_ns IS NOT NULL THEN judged.for_collective
        ELSE coalesce(alike.for_collective, FALSE)
    END AS for_collective, -- whether it waits for one; else for computation
    CASE
        WHEN windowed.recording IS NULL OR seen.ts_ns IS NOT NULL THEN judged.only_collectives
        ELSE coalesce(alike.only_collectives, FALSE)
    END AS only_collectives, -- whether nothing else was enqueued since the wait before
    judged.collectives, -- NCCL calls since the wait before
    judged.first_collective_ns -- [ns] start of the first of them
FROM judged
LEFT JOIN windowed ON windowed.recording = judged.recording
LEFT JOIN seen ON seen.recording = judged.recording AND seen.pid = judged.pid AND seen.ts_ns = judged.ts_ns
LEFT JOIN alike
    ON alike.recording = judged.recording
    AND alike.pid = judged.pid
    AND alike.tid = judged.tid
    AND alike.name = judged.name
    AND alike.collectives = judged.collectives
UNION ALL
SELECT recording, pid, tid, name, ts_ns, ts_ns + dur_ns, dur_ns, FALSE, FALSE, 0, NULL
FROM waits
ANTI JOIN communicating ON communicating.recording = waits.recording AND communicating.pid = waits.pid
