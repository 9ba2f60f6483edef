-- Steps of each process in stretches of time: a row for each stretch that a step has a part of.
--
-- The steps of an event are those of its process in the stretch `ts_ns >> bits`, of which the times tell the one. To
-- join so costs less than an ASOF join, which sorts all events. Of each process, the thread with the most steps; how
-- long stretches are is the same for all.
--
-- needs: steps, _step_counts
CREATE TABLE _step_stretches AS
WITH
    main_steps AS (
        SELECT steps.recording, steps.pid, steps.tid, steps.step, steps.start_ns, steps.end_ns, steps.step_kind
        FROM steps
        JOIN _step_counts AS counts
            ON counts.recording = steps.recording
            AND counts.pid = steps.pid
            AND counts.tid = steps.tid
    ),
    lengths AS (
        SELECT recording, pid, quantile_cont(end_ns - start_ns, 0.1) AS dur_ns
        FROM main_steps
        WHERE end_ns > start_ns
        GROUP BY ALL
    ),
    constants AS (
        SELECT stretch_bits(min(dur_ns), 25) AS bits
        FROM lengths
    )
SELECT
    main_steps.recording, -- recording
    main_steps.pid, -- process
    main_steps.tid, -- training thread
    main_steps.step, -- number of the step
    main_steps.start_ns, -- [ns] when it began
    main_steps.end_ns, -- [ns] when it ended
    main_steps.step_kind = 'train' AS trains, -- whether it is of kind train
    unnest(range(main_steps.start_ns >> bits, (main_steps.end_ns >> bits) + 1)) AS stretch, -- number of the stretch
    CAST(constants.bits AS UTINYINT) AS bits -- log2 of a stretch's nanoseconds, 34 ms at least
FROM main_steps
CROSS JOIN constants
