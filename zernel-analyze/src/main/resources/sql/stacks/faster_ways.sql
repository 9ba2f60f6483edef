-- Stacks in which PyTorch loads a batch item by item, and does little with each.
--
-- What surrounds arithmetic takes the time then: Python's interpreter, dispatch, and the memory of small tensors.
-- These are functions of its own that ask a data set for each item, that take it from tensors, and that put items
-- together. Of a program they are methods `__getitem__` which PyTorch calls and that call no function of Python, where
-- a fifth of their samples is in PyTorch or NumPy, as where rows become tensors; others may compute in Python.
--
-- needs: _stack_frames, _operator_frames, stack_events
CREATE TABLE _item_stacks AS
WITH
    constants AS (
        SELECT 0.2 AS tensors_share -- of a method's samples, in PyTorch or NumPy
    ),
    frames AS (
        SELECT
            id,
            frame,
            function,
            file,
            module,
            native,
            module = 'torch' AND regexp_matches(file, '/utils/data/(_utils/(fetch|collate)|dataset)\.py$') AS loads
        FROM _stack_frames
    ),
    inner_frames AS (
        SELECT id, min(frame) AS frame
        FROM frames
        WHERE NOT native
        GROUP BY id
    ),
    -- By the functions of Python that are the innermost.
    places AS (
        SELECT
            inner_frames.id,
            frames.function,
            frames.file,
            frames.loads AS of_torch,
            frames.module IS NULL AND regexp_matches(frames.function, '(^|\.)__getitem__$') AND callers.loads AS own,
            computed.native
                AND regexp_matches(computed.file, '^(libtorch|libc10|_multiarray_umath)') AS in_tensors
        FROM inner_frames
        JOIN frames ON frames.id = inner_frames.id AND frames.frame = inner_frames.frame
        JOIN frames AS callers ON callers.id = inner_frames.id AND callers.frame = inner_frames.frame + 1
        JOIN frames AS computed ON computed.id = inner_frames.id AND computed.frame = 0
    ),
    rows_of_tensors AS (
        SELECT places.function, places.file
        FROM places
        JOIN stack_events AS samples ON samples.id = places.id AND samples.kind = 'sample'
        CROSS JOIN constants
        WHERE places.own
        GROUP BY places.function, places.file, constants.tensors_share
        HAVING sum(CASE WHEN places.in_tensors THEN samples.ns ELSE 0 END) >= constants.tensors_share * sum(samples.ns)
    )
SELECT
    places.id -- number of the stack
FROM places
JOIN _operator_frames AS frames ON frames.id = places.id AND frames.is_around
LEFT JOIN rows_of_tensors ON rows_of_tensors.function = places.function AND rows_of_tensors.file = places.file
WHERE places.of_torch OR (places.own AND rows_of_tensors.file IS NOT NULL);

-- Stacks whose line calls what has a faster way, and that way.
--
-- Only what a line calls by one library alone: what a framework does inside is not the program's to change, but for
-- what a server makes of results. Nor is what modules do while they are imported. Where the library calls a function of
-- the program, as for each row, what that computes itself is not among these, only what the same library does there.
--
-- A known call that is native code is the innermost frame, and there only while it computes itself: what the same place
-- in Python does in the C library or in the kernel, as reading a file, is of that call.
--
-- needs: _stack_frames, _item_stacks, known_calls
CREATE TABLE faster_ways AS
WITH
    known AS (
        SELECT id, frame, module, known_call
        FROM _stack_frames
        WHERE known_call IS NOT NULL AND NOT native AND id NOT IN (SELECT id FROM _stack_frames WHERE is_import(file))
    ),
    frames AS (
        SELECT id, frame, own, module
        FROM _stack_frames
        WHERE NOT native AND module IS DISTINCT FROM 'generated' AND id IN (SELECT id FROM known)
    ),
    inner_frames AS (
        SELECT id, min(frame) FILTER (own) AS own, arg_min(coalesce(module, ''), frame) AS module
        FROM frames
        GROUP BY id
    ),
    called AS (
        SELECT known.id, known.frame, known.module, known.known_call, min(frames.frame) AS caller
        FROM known
        JOIN frames ON frames.id = known.id AND frames.own AND frames.frame > known.frame
        GROUP BY ALL
    ),
    entered AS (
        SELECT called.id, called.caller, arg_max(frames.module, frames.frame) AS module
        FROM (SELECT DISTINCT id, caller FROM called) AS called
        JOIN frames ON frames.id = called.id AND frames.frame < called.caller
        GROUP BY called.id, called.caller
    ),
    firsts AS (
        SELECT called.id, min(called.known_call) AS number
        FROM called
        JOIN entered ON entered.id = called.id AND entered.caller = called.caller AND entered.module = called.module
        JOIN inner_frames AS innermost ON innermost.id = called.id
        WHERE called.caller = innermost.own OR innermost.module = called.module
        GROUP BY called.id
    ),
    -- What a server does with the result of a function of the program, which chooses what that is.
    served AS (
        SELECT known.id, min(known.known_call) AS number
        FROM known
        JOIN inner_frames AS innermost ON innermost.id = known.id
        WHERE known.module IN ('fastapi', 'starlette')
            AND innermost.module IN ('fastapi', 'starlette', 'python')
            AND (innermost.own < known.frame) IS NOT TRUE
        GROUP BY known.id
    ),
    -- Of each stack the innermost place in Python, and what it calls.
    places AS (
        SELECT
            id,
            arg_min({'function': function, 'file': file, 'line': line}, frame) FILTER (NOT native) AS place,
            min(known_call) FILTER (native) AS known_call,
            bool_and(file LIKE 'libc.so%') FILTER (native) IS DISTINCT FROM FALSE AS in_c,
            bool_or(own) AND bool_or(is_import(file)) IS NOT TRUE AS own
        FROM _stack_frames
        GROUP BY id
    ),
    calling AS (
        SELECT place, min(known_call) AS number
        FROM places
        WHERE known_call IS NOT NULL
        GROUP BY place
    ),
    numbers AS (
        SELECT id, arg_min(number, turn) AS number
        FROM (
            SELECT id, number, 1 AS turn
            FROM firsts
            UNION ALL
            SELECT id, number, 2
            FROM served
            UNION ALL
            SELECT id, (SELECT number FROM known_calls WHERE module = 'items'), 3
            FROM _item_stacks
            UNION ALL
            SELECT places.id, calling.number, 4
            FROM places
            JOIN calling ON calling.place = places.place
            WHERE places.own AND (places.known_call IS NOT NULL OR places.in_c)
        )
        GROUP BY id
    )
SELECT
    numbers.id, -- number of the stack
    calls.call, -- what the line calls
    calls.instead, -- what is faster
    calls.in_loops, -- whether that is so only where it is called again and again
    calls.module = 'items' AS by_item -- whether it is loading item by item
FROM numbers
JOIN known_calls AS calls ON calls.number = numbers.number
