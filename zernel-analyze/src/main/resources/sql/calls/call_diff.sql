-- What two jobs called, compared by kind and name: how often and for how long, per step.
--
-- Per second of recording where one of the two has no steps. A row without a name is the whole kind. Nested calls of
-- the same kind are left out, and so are kinds of which one of the two holds only windows, a sample or a number: of
-- launches, step_diff compares detailed steps. Times are sums over all threads, taken on the CPU.
--
-- needs: events, files, _diff_units, _detail, _sampled
CREATE VIEW call_diff AS
WITH
    partial AS (
        SELECT kind
        FROM _detail
        UNION
        SELECT kind
        FROM _sampled
    ),
    sums AS (
        SELECT
            files.side,
            events.kind,
            CASE WHEN grouping(events.name) = 0 THEN coalesce(events.name, '') END AS name,
            count(*) AS calls,
            coalesce(sum(events.dur_ns), 0) AS sum_ns,
            median(events.dur_ns) AS p50_ns
        FROM events
        JOIN files ON files.recording = events.recording
        ANTI JOIN partial ON partial.kind = events.kind
        WHERE events.kind NOT IN ('process', 'lost', 'mark', 'sample', 'gpu_sample', 'gpu_process', 'host_sample')
            AND coalesce(events.depth, 0) = 0
        GROUP BY GROUPING SETS ((files.side, events.kind), (files.side, events.kind, events.name))
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
