-- Kernel launches of each step, of all threads of its process, and where they are in uneven steps.
--
-- One pass over the launches, of which there may be more than of all else, for everything that is asked of steps. Those
-- whose end was not recorded take as long as the others of the step.
--
-- needs: _launched, _step_spans, _uneven_steps
CREATE TABLE _step_launches AS
WITH
    -- A number for each step: 18 million launches are grouped by one key sooner than by three.
    numbered AS MATERIALIZED (
        SELECT
            spans.recording,
            spans.pid,
            spans.step,
            spans.from_ns,
            spans.until_ns,
            uneven.step IS NOT NULL AS uneven,
            row_number() OVER () AS number
        FROM _step_spans AS spans
        LEFT JOIN _uneven_steps AS uneven
            ON uneven.recording = spans.recording
            AND uneven.pid = spans.pid
            AND uneven.step = spans.step
    ),
    calls AS (
        SELECT recording, pid, at_ns, dur_ns
        FROM _launched
        WHERE NOT graph
    ),
    sums AS (
        SELECT
            number,
            count(*) AS launches,
            sum(dur_ns) * count(*) / nullif(count(dur_ns), 0) AS launch_ns,
            list({'start_ns': at_ns, 'end_ns': at_ns + coalesce(dur_ns, 0)}) FILTER (WHERE uneven) AS calls
        FROM in_spans(calls, numbered)
        GROUP BY number
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
