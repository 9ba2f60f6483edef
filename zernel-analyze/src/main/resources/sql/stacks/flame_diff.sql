-- The stacks of two jobs as one tree: a row for each frame below the same frames and each side, before or after.
--
-- Times are per step, or per second of recording where one of the two has no steps. Frames that hold little of the time
-- of both are left out, see `stack_tree`. No rows where one of the two has no stacks.
--
-- needs: stack_diff, _frames
CREATE VIEW flame_diff AS
WITH
    paths AS (
        SELECT string_split(stack, ';') AS frames, 'before' AS state, before_ns AS total_ns
        FROM stack_diff
        WHERE before_ns > 0
        UNION ALL
        SELECT string_split(stack, ';') AS frames, 'after' AS state, after_ns AS total_ns
        FROM stack_diff
        WHERE after_ns > 0
    ),
    names AS (
        SELECT
            regexp_replace(frame, ':\d+\)$', ')') AS frame,
            any_value(CASE
                WHEN native OR file IS NULL THEN coalesce(called, file)
                ELSE concat_ws(' ', regexp_extract(file, '[^/]*$'), called)
            END) AS name
        FROM _frames
        GROUP BY ALL
    )
SELECT
    tree.node, -- number of the place in the tree, above that of its parent
    tree.parent, -- number of the place that it was called from; NULL for a root
    coalesce(names.name, tree.frame) AS frame, -- file and function, or symbol
    tree.state, -- before or after
    tree.total_ns -- [ns] time per step in it and in what it called
FROM stack_tree(paths) AS tree
LEFT JOIN names ON names.frame = tree.frame
ORDER BY tree.node, tree.state
