-- How much of the time of training threads is in functions of torch.distributed that exchange Python objects.
--
-- Such a function (`broadcast_object_list`, `all_gather_object`) makes bytes of the objects and of these objects again,
-- which takes a CPU and no recorded call; the other ranks wait for it in a collective. By stacks, so without stacks
-- there is no row.
--
-- needs: _step_samples, stack_events, stack_lines, steps, _module_stacks
-- digest: kept
CREATE TABLE _object_exchanges AS
WITH
    waits AS (
        SELECT recording, pid, tid, middle_ns, ns, id, name
        FROM stack_events
        WHERE kind = 'dist_wait' AND ns > 0
    ),
    times AS (
        SELECT samples.recording, samples.pid, samples.id, NULL AS name, samples.ns, TRUE AS works
        FROM _step_samples AS samples
        LEFT JOIN _module_stacks AS modules ON modules.id = samples.id
        WHERE samples.part = 'unknown' AND NOT coalesce(modules.forward, FALSE)
        UNION ALL
        SELECT waits.recording, waits.pid, waits.id, waits.name, waits.ns, FALSE
        FROM waits
        ASOF JOIN steps
            ON steps.recording = waits.recording
            AND steps.pid = waits.pid
            AND steps.tid = waits.tid
            AND steps.start_ns <= waits.middle_ns
        WHERE waits.middle_ns < steps.end_ns AND steps.step_kind = 'train'
    ),
    called AS (
        SELECT
            times.recording,
            times.pid,
            times.ns,
            times.works,
            coalesce(lines.called, times.name) AS function,
            coalesce(regexp_matches(coalesce(lines.called, times.name), '_objects?(_list)?$'), FALSE) AS exchanges
        FROM times
        JOIN stack_lines AS lines ON lines.id = times.id
    )
SELECT
    recording, -- recording
    pid, -- process
    sum(ns) FILTER (exchanges AND works) / sum(ns) FILTER (works)
        AS work_share, -- of the time on a CPU in no recorded call, in such functions
    sum(ns) FILTER (exchanges AND NOT works) / sum(ns) FILTER (NOT works)
        AS wait_share, -- of the waits for ranks, in such functions
    mode(function ORDER BY function) FILTER (exchanges) AS function -- most frequent one
FROM called
GROUP BY recording, pid
HAVING bool_or(exchanges)
