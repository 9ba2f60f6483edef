-- What two jobs called, compared by kind and name: how often and for how long, per step.
--
-- Only what begins within steps of kind train counts, and of that, what lies before the end of the last; all of it per
-- second of recording where one of the two has no steps. A row without a name is the whole kind. Nested calls of the
-- same kind are left out, and so are kinds of which one of the two holds only windows, a sample or a number: of
-- launches, step_diff compares detailed steps. Times are sums over all threads, taken on the CPU. Waits but for storage
-- are those of training threads only: others wait for work.
--
-- needs: events, files, _diff_units, _detail, _sampled, _step_owners, _step_spans, _thread_numbers
CREATE VIEW call_diff AS
WITH
    partial AS (
        SELECT kind
        FROM _detail
        UNION
        SELECT kind
        FROM _sampled
    ),
    calls AS (
        SELECT
            events.recording,
            owners.owner AS pid,
            events.kind,
            CASE WHEN events.role = 'step' THEN step_name(events.name) ELSE events.name END AS name,
            events.ts_ns AS at_ns,
            events.dur_ns
        FROM events
        ANTI JOIN partial ON partial.kind = events.kind
        LEFT JOIN _step_owners AS owners ON owners.recording = events.recording AND owners.pid = events.pid
        LEFT JOIN _thread_numbers AS threads
            ON threads.recording = events.recording
            AND threads.pid = events.pid
            AND threads.tid = events.tid
        WHERE events.kind NOT IN ('process', 'lost', 'mark', 'sample', 'gpu_sample', 'gpu_process', 'host_sample')
            AND coalesce(events.depth, 0) = 0
            AND (
                events.kind NOT IN ('sched', 'wait')
                OR threads.thread IS NOT NULL
                OR events.recording NOT IN (SELECT recording FROM _thread_numbers)
                OR (
                    events.kind = 'wait'
                    AND waits_for(events.kind, events.name, coalesce(events.object, events.path), FALSE) = 'storage'
                )
            )
    ),
    spans AS (
        SELECT
            recording,
            pid,
            from_ns,
            until_ns,
            max(until_ns) OVER (PARTITION BY recording, pid) AS last_ns
        FROM _step_spans
        WHERE steady AND (SELECT any_value(per) FROM _diff_units) = 'step'
    ),
    counted AS (
        SELECT recording, kind, name, CASE WHEN dur_ns IS NOT NULL THEN least(dur_ns, last_ns - at_ns) END AS dur_ns
        FROM in_spans(calls, spans)
        UNION ALL
        SELECT recording, kind, name, dur_ns
        FROM calls
        WHERE (SELECT any_value(per) FROM _diff_units) = 'second'
    ),
    sums AS (
        SELECT
            files.side,
            counted.kind,
            CASE WHEN grouping(counted.name) = 0 THEN coalesce(counted.name, '') END AS name,
            count(*) AS calls,
            coalesce(sum(counted.dur_ns), 0) AS sum_ns,
            median(counted.dur_ns) AS p50_ns
        FROM counted
        JOIN files ON files.recording = counted.recording
        GROUP BY GROUPING SETS ((files.side, counted.kind), (files.side, counted.kind, counted.name))
    ),
    names AS (
        SELECT DISTINCT kind, name
        FROM sums
    )
SELECT
    names.kind, -- kind of event
    names.name, -- region, function or system call; NULL for the whole kind
    b_unit.per, -- step or second
    coalesce(b.calls, 0) / b_unit.length AS before_calls, -- calls per step before
    coalesce(a.calls, 0) / a_unit.length AS after_calls, -- calls per step after
    coalesce(b.sum_ns, 0) / b_unit.length AS before_ns, -- [ns] time in them per step before
    coalesce(a.sum_ns, 0) / a_unit.length AS after_ns, -- [ns] time in them per step after
    coalesce(a.sum_ns, 0) / a_unit.length - coalesce(b.sum_ns, 0) / b_unit.length AS change_ns, -- [ns] the difference
    CAST(b.p50_ns AS BIGINT) AS before_p50_ns, -- [ns] median call before
    CAST(a.p50_ns AS BIGINT) AS after_p50_ns -- [ns] median call after
FROM names
JOIN _diff_units AS b_unit ON b_unit.side = 0
JOIN _diff_units AS a_unit ON a_unit.side = 1
LEFT JOIN sums AS b
    ON b.side = 0 AND b.kind = names.kind AND b.name IS NOT DISTINCT FROM names.name
LEFT JOIN sums AS a
    ON a.side = 1 AND a.kind = names.kind AND a.name IS NOT DISTINCT FROM names.name
ORDER BY abs(change_ns) DESC, names.kind, names.name
