-- Steps in which another process had part of the GPU's time by the driver's samples.
--
-- A sample speaks of the time since the one before.
--
-- needs: events, steps
-- digest: kept
CREATE TABLE _shared_steps AS
WITH
    constants AS (
        SELECT
            10 AS min_percent, -- [%] of the GPU's time that others have
            1000000000 AS period_ns -- [ns] that a sample speaks of at most
    ),
    samples AS (
        SELECT recording, device, pid, ts_ns, value
        FROM events
        WHERE kind = 'gpu_process' AND name = 'sm' AND device IS NOT NULL AND pid IS NOT NULL
    ),
    listed AS (
        SELECT recording, pid, mode(device ORDER BY device) AS device
        FROM samples
        GROUP BY ALL
    ),
    rounds AS (
        SELECT recording, device, ts_ns, lag(ts_ns, 1, 0) OVER device_order AS before_ns
        FROM (SELECT DISTINCT recording, device, ts_ns FROM samples)
        WINDOW device_order AS (PARTITION BY recording, device ORDER BY ts_ns)
    ),
    shared AS (
        SELECT
            listed.recording,
            listed.pid,
            greatest(any_value(rounds.before_ns), samples.ts_ns - any_value(constants.period_ns)) AS start_ns,
            samples.ts_ns AS end_ns
        FROM listed
        JOIN samples
            ON samples.recording = listed.recording
            AND samples.device = listed.device
            AND samples.pid <> listed.pid
        JOIN rounds
            ON rounds.recording = samples.recording
            AND rounds.device = samples.device
            AND rounds.ts_ns = samples.ts_ns
        CROSS JOIN constants
        GROUP BY listed.recording, listed.pid, samples.ts_ns
        HAVING sum(samples.value) >= any_value(constants.min_percent)
    )
SELECT
    steps.recording, -- recording
    steps.pid, -- process
    steps.tid, -- training thread
    steps.step -- number of the step
FROM steps
-- The first that ends after the step began: what comes later begins later too.
ASOF JOIN shared
    ON shared.recording = steps.recording
    AND shared.pid = steps.pid
    AND shared.end_ns > steps.start_ns
WHERE shared.start_ns < steps.end_ns
