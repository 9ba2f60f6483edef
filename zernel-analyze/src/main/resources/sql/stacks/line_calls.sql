-- Functions of packages that the line of each stack calls, directly or not.
--
-- What only wraps others, as decorators, contexts and the call of a module, is left out.
--
-- needs: stack_lines, _stack_frames
CREATE TABLE line_calls AS
SELECT
    frames.id, -- number of the stack
    frames.called AS function, -- function in few words
    any_value(frames.module) AS module, -- package; python for the standard library
    max(lines.frame - frames.frame) AS depth -- frames from the line to it, the innermost of its calls
FROM _stack_frames AS frames
JOIN stack_lines AS lines ON lines.id = frames.id
WHERE lines.own
    AND frames.frame < lines.frame
    AND NOT frames.native
    AND frames.module IS NOT NULL
    AND frames.called IS NOT NULL
    AND NOT is_wrapper(frames.function)
    AND frames.file NOT LIKE '%contextlib.py'
GROUP BY frames.id, frames.called
