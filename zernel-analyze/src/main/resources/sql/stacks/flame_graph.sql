-- The recorded stacks as a tree: a row for each frame below the same frames and each state.
--
-- The roots are training threads, data workers, and other threads. A thread that waits for work is not in it, see
-- `stack_times`. Frames that hold less than a two-hundredth of all time are left out, those of Python's import system,
-- and of a deep stack what is inside the 80th frame.
--
-- needs: stack_times, _stack_texts, _frames
CREATE VIEW flame_graph AS
WITH
    constants AS (
        SELECT
            0.005 AS least_share, -- of all time that a frame has to hold
            80 AS most_frames -- of a stack, from the outermost
    ),
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
        FROM stack_times
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
            list_slice(
                list_concat(
                    [sums.root],
                    list_filter(string_split(texts.stack, ';'), lambda frame: frame NOT LIKE '%(<frozen importlib.%')
                ),
                1,
                constants.most_frames
            ) AS frames,
            sums.state,
            sums.total_ns
        FROM sums
        JOIN _stack_texts AS texts ON texts.id = sums.id
        CROSS JOIN constants
    ),
    unnested AS (
        SELECT frames, state, total_ns, unnest(range(1, len(frames) + 1)) AS depth
        FROM paths
    ),
    placed AS (
        SELECT
            hash(list_slice(frames, 1, depth)) AS place,
            CASE WHEN depth > 1 THEN hash(list_slice(frames, 1, depth - 1)) END AS parent,
            depth,
            frames[depth] AS frame,
            state,
            sum(total_ns) AS total_ns
        FROM unnested
        GROUP BY ALL
    ),
    held AS (
        SELECT *, sum(total_ns) OVER (PARTITION BY place) AS all_ns
        FROM placed
    ),
    numbers AS (
        SELECT place, row_number() OVER (ORDER BY depth, all_ns DESC, frame, parent) AS node
        FROM (SELECT DISTINCT place, parent, depth, frame, all_ns FROM held) AS places
        WHERE all_ns >= (SELECT least_share FROM constants) * (SELECT sum(total_ns) FROM sums)
    )
SELECT
    numbers.node, -- number of the place in the tree, above that of its parent
    parents.node AS parent, -- number of the place that it was called from; NULL for a root
    coalesce(names.name, held.frame) AS frame, -- file, line and function, or symbol; of a root, which threads
    held.state, -- on-cpu, gpu, collective, gc, or what was waited for, as in stack_times
    CAST(held.total_ns AS BIGINT) AS total_ns -- [ns] time in it and in what it called
FROM held
JOIN numbers ON numbers.place = held.place
LEFT JOIN numbers AS parents ON parents.place = held.parent
LEFT JOIN names ON names.frame = held.frame
ORDER BY numbers.node, held.state
