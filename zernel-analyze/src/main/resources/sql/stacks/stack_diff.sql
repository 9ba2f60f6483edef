-- The time of each stack of two jobs, per step: what a differential flame graph is drawn of.
--
-- Only time within steps of kind train counts; all of it per second of recording where one of the two has no steps. No
-- rows where one of the two has no stacks. A line may have moved in its file, so the frames have no line numbers. Times
-- are sums over all threads but those that wait for work.
--
-- needs: stack_times, _stack_texts, files, _diff_units
CREATE VIEW stack_diff AS
WITH
    sums AS (
        SELECT
            files.side,
            regexp_replace(texts.stack, ':\d+\)', ')', 'g') AS stack,
            sum(CASE
                WHEN (SELECT any_value(per) FROM _diff_units) = 'step' THEN times.steady_ns
                ELSE times.total_ns
            END) AS total_ns
        FROM stack_times AS times
        JOIN _stack_texts AS texts ON texts.id = times.id
        JOIN files ON files.recording = times.recording
        WHERE NOT times.idle
        GROUP BY ALL
    ),
    told AS (
        SELECT DISTINCT stack
        FROM sums
        WHERE total_ns > 0 AND (SELECT count(DISTINCT side) FROM sums) = 2
    )
SELECT
    told.stack, -- frames joined by `;`, the outermost first, without the numbers of lines
    b_unit.per, -- step or second
    coalesce(b.total_ns, 0) / b_unit.length AS before_ns, -- [ns] time in it per step before
    coalesce(a.total_ns, 0) / a_unit.length AS after_ns -- [ns] time in it per step after
FROM told
JOIN _diff_units AS b_unit ON b_unit.side = 0
JOIN _diff_units AS a_unit ON a_unit.side = 1
LEFT JOIN sums AS b ON b.side = 0 AND b.stack = told.stack
LEFT JOIN sums AS a ON a.side = 1 AND a.stack = told.stack
ORDER BY told.stack
