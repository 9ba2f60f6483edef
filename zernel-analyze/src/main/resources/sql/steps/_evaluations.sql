-- Evaluation loops of training threads: passes over a loader in which nothing is trained.
--
-- Where more batches than usual are fetched without a backward or optimizer step between them, all but the last, which
-- is trained on, are evaluated; so are those after the last training step. The `__next__` that ended the training pass
-- before is known by being short, or by the start of workers after it. Where no loader feeds the optimizer, one batch
-- between two steps is usual at most, and where there are more, the last is evaluated too. Processes that never train
-- have no rows. A pass that only waits for its batches skips them, as a run that goes on where it stopped.
--
-- needs: _intervals, _thread_numbers
CREATE TABLE _evaluations AS
WITH
    constants AS (
        SELECT 0.95 AS waiting_share -- of a pass, waiting for batches, from which on nothing is done with them
    ),
    markers AS (
        SELECT
            thread,
            start_ns,
            end_ns,
            part,
            fed,
            count(CASE WHEN part IN ('backward', 'optimizer_step') THEN 1 END) OVER (
                PARTITION BY thread
                ORDER BY start_ns, end_ns DESC
                ROWS UNBOUNDED PRECEDING
            ) AS passes
        FROM _intervals
        WHERE part IN ('data_wait', 'worker_start', 'backward', 'optimizer_step')
    ),
    trained AS (
        SELECT thread, max(passes) AS passes
        FROM markers
        GROUP BY thread
        HAVING max(passes) > 0
    ),
    waits AS (
        SELECT
            thread,
            passes,
            start_ns,
            end_ns,
            fed,
            row_number() OVER (PARTITION BY thread, passes ORDER BY start_ns) AS place,
            count(*) OVER (PARTITION BY thread, passes) AS waits
        FROM markers
        WHERE part = 'data_wait'
    ),
    usual AS (
        SELECT thread, CASE WHEN fed THEN median(waits) ELSE 1 END AS waits
        FROM waits
        WHERE place = 1
        GROUP BY thread, fed
    ),
    runs AS (
        SELECT
            waits.thread,
            waits.passes,
            any_value(waits.waits) AS waits,
            bool_or(trained.passes > waits.passes AND waits.fed) AS trains_next,
            min(waits.start_ns) AS first_ns,
            max(waits.end_ns - waits.start_ns) FILTER (waits.place = 1) AS first_wait_ns,
            min(waits.start_ns) FILTER (waits.place = 2) AS second_ns,
            median(waits.end_ns - waits.start_ns) FILTER (waits.place BETWEEN 2 AND waits.waits - 1) AS wait_ns,
            max(waits.end_ns) FILTER (waits.place < waits.waits) AS before_last_ns,
            max(waits.end_ns) AS last_ns,
            sum(waits.end_ns - waits.start_ns) AS waiting_ns
        FROM waits
        JOIN usual ON usual.thread = waits.thread
        JOIN trained ON trained.thread = waits.thread
        WHERE waits.waits >= usual.waits + 2
        GROUP BY waits.thread, waits.passes
    ),
    starts AS (
        SELECT runs.thread, runs.passes, min(markers.start_ns) AS start_ns
        FROM runs
        JOIN markers ON markers.thread = runs.thread AND markers.passes = runs.passes
        WHERE markers.part = 'worker_start' AND markers.start_ns < runs.second_ns
        GROUP BY runs.thread, runs.passes
    ),
    bounds AS (
        SELECT
            runs.thread,
            CASE
                WHEN starts.start_ns IS NOT NULL THEN starts.start_ns
                WHEN runs.first_wait_ns < 0.5 * runs.wait_ns THEN runs.second_ns
                ELSE runs.first_ns
            END AS start_ns,
            CASE WHEN runs.trains_next THEN runs.before_last_ns ELSE runs.last_ns END AS end_ns,
            runs.waits - CASE WHEN runs.trains_next THEN 1 ELSE 0 END AS batches,
            runs.waiting_ns >= constants.waiting_share * (runs.last_ns - runs.first_ns) AS skips
        FROM runs
        CROSS JOIN constants
        LEFT JOIN starts ON starts.thread = runs.thread AND starts.passes = runs.passes
    )
SELECT
    numbers.recording, -- recording
    numbers.pid, -- process
    numbers.tid, -- training thread
    bounds.thread, -- its number
    bounds.start_ns, -- [ns] when the loop began: with its workers, or with its first batch
    bounds.end_ns, -- [ns] when its loader had no more batches
    bounds.batches, -- batches, and the wait that ended the pass, if it did
    bounds.skips -- whether nothing is done with them
FROM bounds
JOIN _thread_numbers AS numbers ON numbers.thread = bounds.thread
WHERE bounds.end_ns > bounds.start_ns
