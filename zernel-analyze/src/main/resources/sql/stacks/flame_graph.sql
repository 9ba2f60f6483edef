-- The stacks of training steps as a tree: a row for each frame below the same frames and each state.
--
-- The roots are training threads, data workers, and other threads. A thread that waits for work is not in it, see
-- `stack_times`; nor is start-up, see `training_stack_times`. Frames that hold little of all time are left out, see
-- `stack_tree`.
--
-- needs: training_stack_times, _stack_texts, _frames
CREATE VIEW flame_graph AS
WITH
    sums AS (
        SELECT
            CASE
                WHEN trains THEN 'training threads'
                WHEN role = 'data worker' THEN 'data workers'
                ELSE 'other threads'
            END AS root,
            state,
            id,
            sum(total_ns) AS total_ns
        FROM training_stack_times
        WHERE NOT idle
        GROUP BY ALL
    ),
    names AS (
        SELECT
            frame,
            CASE
                WHEN native OR file IS NULL THEN coalesce(called, file)
                ELSE concat_ws(' ', concat_ws(':', regexp_extract(file, '[^/]*$'), line), called)
            END AS name
        FROM _frames
    ),
    paths AS (
        SELECT
            list_concat([sums.root], string_split(texts.stack, ';')) AS frames,
            sums.state,
            sums.total_ns
        FROM sums
        JOIN _stack_texts AS texts ON texts.id = sums.id
    )
SELECT
    tree.node, -- number of the place in the tree, above that of its parent
    tree.parent, -- number of the place that it was called from; NULL for a root
    coalesce(names.name, tree.frame) AS frame, -- file, line and function, or symbol; of a root, which threads
    tree.state, -- on-cpu, gpu, collective, gc, or what was waited for, as in stack_times
    CAST(tree.total_ns AS BIGINT) AS total_ns -- [ns] time in it and in what it called
FROM stack_tree(paths) AS tree
LEFT JOIN names ON names.frame = tree.frame
ORDER BY tree.node, tree.state
