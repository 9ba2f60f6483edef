-- Kernel launches of each step, of all threads of its process, and where they are in uneven steps.
--
-- One pass over the launches, of which there may be more than of all else, for everything that is asked of steps.
--
-- needs: _launched, steps, _step_counts, _uneven_steps
CREATE TABLE _step_launches AS
WITH
    -- A join on stretches of 34 ms costs half of an ASOF join, which would sort all calls.
    stretches AS (
        SELECT
            steps.recording,
            steps.pid,
            steps.step,
            steps.start_ns,
            steps.end_ns,
            uneven.step IS NOT NULL AS uneven,
            unnest(range(steps.start_ns >> 25, (steps.end_ns >> 25) + 1)) AS stretch
        FROM steps
        JOIN _step_counts AS counts
            ON counts.recording = steps.recording
            AND counts.pid = steps.pid
            AND counts.tid = steps.tid
        LEFT JOIN _uneven_steps AS uneven
            ON uneven.recording = steps.recording
            AND uneven.pid = steps.pid
            AND uneven.step = steps.step
    )
SELECT
    stretches.recording, -- recording
    stretches.pid, -- process
    stretches.step, -- number of the step
    count(*) AS launches, -- launches
    sum(_launched.dur_ns) AS launch_ns, -- [ns] time to enqueue them
    list({'start_ns': _launched.at_ns, 'end_ns': _launched.at_ns + _launched.dur_ns}) FILTER (WHERE stretches.uneven)
        AS calls -- [ns] from when to when each took, of uneven steps only
FROM _launched
JOIN stretches
    ON stretches.recording = _launched.recording
    AND stretches.pid = _launched.pid
    AND stretches.stretch = _launched.at_ns >> 25
WHERE NOT _launched.graph AND _launched.at_ns >= stretches.start_ns AND _launched.at_ns < stretches.end_ns
GROUP BY stretches.recording, stretches.pid, stretches.step
