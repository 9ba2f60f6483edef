-- In which lines two jobs spent their time, per step: which line got slower.
--
-- Only time within steps of kind train counts; all of it per second of recording where one of the two has no steps. No
-- rows where one of the two has no stacks. A line may have moved in its file, so lines are told by their function, and
-- the number is that of after. Times are sums over all threads but those that wait for work.
--
-- needs: stack_times, stack_lines, files, _diff_units
CREATE VIEW line_diff AS
WITH
    times AS (
        SELECT
            files.side,
            times.state,
            regexp_replace(lines.line, ':\d+ ', ' ') AS place,
            lines.line,
            CASE
                WHEN (SELECT any_value(per) FROM _diff_units) = 'step' THEN times.steady_ns
                ELSE times.total_ns
            END AS total_ns
        FROM stack_times AS times
        JOIN stack_lines AS lines ON lines.id = times.id
        JOIN files ON files.recording = times.recording
        WHERE NOT times.idle
    ),
    sums AS (
        SELECT side, place, state, arg_max(line, (total_ns, line)) AS line, sum(total_ns) AS total_ns
        FROM times
        GROUP BY ALL
    ),
    places AS (
        SELECT DISTINCT place, state
        FROM sums
        WHERE total_ns > 0 AND (SELECT count(DISTINCT side) FROM sums) = 2
    )
SELECT
    coalesce(a.line, b.line) AS line, -- the function, with its line that holds most: `train.py:88 log_loss`
    places.state, -- on-cpu, gpu, collective, gc, or what was waited for
    b_unit.per, -- step or second
    coalesce(b.total_ns, 0) / b_unit.length AS before_ns, -- [ns] time in it per step before
    coalesce(a.total_ns, 0) / a_unit.length AS after_ns, -- [ns] time in it per step after
    coalesce(a.total_ns, 0) / a_unit.length - coalesce(b.total_ns, 0) / b_unit.length
        AS change_ns -- [ns] the difference
FROM places
JOIN _diff_units AS b_unit ON b_unit.side = 0
JOIN _diff_units AS a_unit ON a_unit.side = 1
LEFT JOIN sums AS b ON b.side = 0 AND b.place = places.place AND b.state = places.state
LEFT JOIN sums AS a ON a.side = 1 AND a.place = places.place AND a.state = places.state
ORDER BY abs(change_ns) DESC, places.place, places.state
