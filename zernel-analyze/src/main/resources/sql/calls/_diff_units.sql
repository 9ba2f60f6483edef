-- What two compared jobs are counted per: a step, or a second of recording where one of the two has no steps.
--
-- The steps are those of kind train, or all of a process that has none.
--
-- needs: events, files, _step_counts
CREATE TABLE _diff_units AS
WITH
    seconds AS (
        SELECT recording, coalesce(nullif(max(ts_ns) - min(ts_ns), 0), nullif(max(dur_ns), 0)) / 1e9 AS seconds
        FROM events
        GROUP BY ALL
    ),
    step_sums AS (
        SELECT recording, sum(steady_steps) AS steps
        FROM _step_counts
        GROUP BY ALL
    ),
    sides AS (
        SELECT side, sum(seconds.seconds) AS seconds, coalesce(sum(step_sums.steps), 0) AS steps
        FROM files
        LEFT JOIN seconds ON seconds.recording = files.recording
        LEFT JOIN step_sums ON step_sums.recording = files.recording
        GROUP BY ALL
    )
SELECT
    side, -- 0 before, 1 after
    CASE WHEN (SELECT min(steps) FROM sides) > 0 THEN 'step' ELSE 'second' END AS per, -- step or second
    CASE WHEN (SELECT min(steps) FROM sides) > 0 THEN steps ELSE seconds END AS length -- how many of them
FROM sides
