-- Kernel launches of each step, of all threads of its process, and where they are in uneven steps.
--
-- One pass over the launches, of which there may be more than of all else, for everything that is asked of steps.
--
-- needs: _launched, _step_stretches, _uneven_steps
CREATE TABLE _step_launches AS
WITH
    -- A number for each step: 18 million launches are grouped by one key sooner than by three.
    numbered AS (
        SELECT
            stretches.recording,
            stretches.pid,
            stretches.step,
            any_value(uneven.step) IS NOT NULL AS uneven,
            row_number() OVER () AS number
        FROM _step_stretches AS stretches
        LEFT JOIN _uneven_steps AS uneven
            ON uneven.recording = stretches.recording
            AND uneven.pid = stretches.pid
            AND uneven.step = stretches.step
        GROUP BY stretches.recording, stretches.pid, stretches.step
    ),
    spans AS (
        SELECT
            stretches.recording,
            stretches.pid,
            stretches.start_ns,
            stretches.end_ns,
            stretches.stretch,
            numbered.uneven,
            numbered.number
        FROM _step_stretches AS stretches
        JOIN numbered
            ON numbered.recording = stretches.recording
            AND numbered.pid = stretches.pid
            AND numbered.step = stretches.step
    ),
    calls AS (
        SELECT recording, pid, at_ns, dur_ns, at_ns >> (SELECT max(bits) FROM _step_stretches) AS stretch
        FROM _launched
        WHERE NOT graph
    ),
    sums AS (
        SELECT
            spans.number,
            count(*) AS launches,
            sum(calls.dur_ns) AS launch_ns,
            list({'start_ns': calls.at_ns, 'end_ns': calls.at_ns + calls.dur_ns})
                FILTER (WHERE spans.uneven) AS calls
        FROM calls
        JOIN spans
            ON spans.recording = calls.recording
            AND spans.pid = calls.pid
            AND spans.stretch = calls.stretch
        WHERE calls.at_ns >= spans.start_ns AND calls.at_ns < spans.end_ns
        GROUP BY spans.number
    )
SELECT
    numbered.recording, -- recording
    numbered.pid, -- process
    numbered.step, -- number of the step
    sums.launches, -- launches
    sums.launch_ns, -- [ns] time to enqueue them
    sums.calls -- [ns] from when to when each took, of uneven steps only
FROM numbered
JOIN sums ON sums.number = numbered.number
