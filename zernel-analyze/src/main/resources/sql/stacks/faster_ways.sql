-- Stacks whose line calls what has a faster way, and that way.
--
-- Only what the line calls by one library alone: what a framework does inside is not the program's to change. Nor is
-- what modules do while they are imported.
--
-- needs: _stack_frames, stack_lines, known_calls
CREATE TABLE faster_ways AS
WITH
    known AS (
        SELECT id, frame, module, known_call
        FROM _stack_frames
        WHERE known_call IS NOT NULL AND id NOT IN (SELECT id FROM _stack_frames WHERE is_import(file))
    ),
    entered AS (
        SELECT frames.id, arg_max(frames.module, frames.frame) AS module
        FROM _stack_frames AS frames
        JOIN stack_lines AS lines ON lines.id = frames.id
        WHERE lines.own
            AND frames.frame < lines.frame
            AND NOT frames.native
            AND frames.module <> 'generated'
            AND frames.id IN (SELECT id FROM known)
        GROUP BY frames.id
    ),
    firsts AS (
        SELECT known.id, min(known.known_call) AS number
        FROM known
        JOIN stack_lines AS lines ON lines.id = known.id AND known.frame < lines.frame
        JOIN entered ON entered.id = known.id AND entered.module = known.module
        GROUP BY known.id
    )
SELECT
    firsts.id, -- number of the stack
    calls.call, -- what the line calls
    calls.instead -- what is faster
FROM firsts
JOIN known_calls AS calls ON calls.number = firsts.number
