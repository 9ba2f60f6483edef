-- Stacks whose line calls what has a faster way, and that way.
--
-- Only what a line calls by one library alone: what a framework does inside is not the program's to change. Nor is
-- what modules do while they are imported. Where the library calls a function of the program, as for each row, what
-- that computes itself is not among these, only what the same library does there.
--
-- A known call that is native code is the innermost frame, and there only while it computes itself: what the same place
-- in Python does in the C library or in the kernel, as reading a file, is of that call.
--
-- needs: _stack_frames, known_calls
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
        SELECT id, number
        FROM firsts
        UNION ALL
        SELECT places.id, calling.number
        FROM places
        JOIN calling ON calling.place = places.place
        WHERE places.own
            AND (places.known_call IS NOT NULL OR places.in_c)
            AND places.id NOT IN (SELECT id FROM firsts)
    )
SELECT
    numbers.id, -- number of the stack
    calls.call, -- what the line calls
    calls.instead -- what is faster
FROM numbers
JOIN known_calls AS calls ON calls.number = numbers.number
