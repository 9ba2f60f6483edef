-- In which functions of Python, or ranges of it, a training thread was while the GPU had nothing to do.
--
-- Of a profiler's trace with stacks, or with ranges of the program (`record_function`). Gaps count that are mostly for
-- operators, launches, the optimizer or no call (see gpu_idle), up to the launch that ends them. A function is the
-- innermost one that is neither PyTorch's nor of Python's own library, which count to what calls them, as does what
-- TorchInductor has made; a range is one that is shorter than a mean step.
--
-- needs: gpu_idle, events, _rare_events, _step_spans, step_mean, files
CREATE TABLE gpu_idle_functions AS
WITH
    gaps AS (
        SELECT
            recording,
            pid,
            device,
            start_ns,
            end_ns - coalesce(sum(dur_ns) FILTER (cause IN ('launch latency', 'queued')), 0) AS end_ns
        FROM gpu_idle
        GROUP BY recording, pid, device, gpu_idle.start_ns, gpu_idle.end_ns
        HAVING 2 * sum(dur_ns) FILTER (cause IN ('dispatch', 'optimizer', 'no call')) >= sum(dur_ns)
    ),
    threads AS (
        SELECT DISTINCT spans.recording, spans.pid, spans.tid, means.step_ns
        FROM _step_spans AS spans
        JOIN files ON files.recording = spans.recording
        LEFT JOIN step_mean AS means
            ON means.recording = spans.recording
            AND means.pid = spans.pid
            AND means.tid = spans.tid
        WHERE files.state = 'trace'
    ),
    functions AS (
        SELECT recording, pid, tid, ts_ns AS start_ns, ts_ns + dur_ns AS end_ns, name
        FROM events
        WHERE kind = 'py_call'
            AND recording IN (SELECT recording FROM gaps)
            AND is_own_function(name)
        UNION ALL
        SELECT ranges.recording, ranges.pid, ranges.tid, ts_ns, ts_ns + dur_ns, 'the range ' || name
        FROM _rare_events AS ranges
        JOIN threads USING (recording, pid, tid)
        WHERE is_own_range(kind, name, role) AND dur_ns < threads.step_ns
    ),
    edges AS (
        SELECT
            threads.recording,
            threads.pid,
            unnest([functions.start_ns, functions.end_ns]) AS at_ns,
            unnest([2, 0]) AS turn,
            unnest([-functions.end_ns, -functions.start_ns]) AS tie,
            functions.name,
            NULL AS device
        FROM functions
        JOIN threads USING (recording, pid, tid)
        WHERE functions.end_ns > functions.start_ns
        UNION ALL
        SELECT recording, pid, unnest([start_ns, end_ns]), unnest([2, 0]), 0, NULL, device
        FROM gaps
        WHERE end_ns > start_ns
    ),
    ordered AS (
        SELECT
            *,
            row_number() OVER in_time AS position,
            lead(at_ns) OVER in_time AS next_ns,
            sum(CASE WHEN name IS NOT NULL THEN turn - 1 ELSE 0 END) OVER in_time AS depth,
            sum(CASE WHEN device IS NOT NULL THEN turn - 1 ELSE 0 END) OVER in_time AS gaps
        FROM edges
        WINDOW in_time AS (PARTITION BY recording, pid ORDER BY at_ns, turn, tie, name ROWS UNBOUNDED PRECEDING)
    ),
    -- After an end, the function that runs again is the last one that began at this depth.
    placed AS (
        SELECT
            recording,
            pid,
            next_ns - at_ns AS dur_ns,
            gaps,
            CASE
                WHEN depth > 0 THEN last_value(CASE WHEN turn = 2 THEN name END IGNORE NULLS) OVER (
                    PARTITION BY recording, pid, depth
                    ORDER BY position
                    ROWS UNBOUNDED PRECEDING
                )
            END AS function
        FROM ordered
    )
SELECT
    recording, -- recording
    pid, -- process
    function, -- function, or range; NULL for time in none
    CAST(sum(dur_ns) AS BIGINT) AS idle_ns, -- [ns] in it in which a GPU had nothing to do
    sum(dur_ns) / sum(sum(dur_ns)) OVER (PARTITION BY recording, pid) AS idle_share -- of all such time
FROM placed
WHERE gaps > 0 AND dur_ns > 0
GROUP BY recording, pid, function
ORDER BY recording, pid, idle_ns DESC, function
