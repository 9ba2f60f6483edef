-- Stacks in which autograd formats the stack of an operator, as its anomaly detection does for each.
--
-- needs: _stack_frames
CREATE TABLE _traceback_stacks AS
WITH
    formats AS (
        SELECT id, max(frame) AS frame
        FROM _stack_frames
        WHERE NOT native AND function = 'format_stack' AND regexp_matches(file, '/traceback\.py$')
        GROUP BY id
    )
SELECT
    formats.id, -- number of the stack
    callers.module = 'torch' AS in_torch -- whether PyTorch's Python called it, as no program calls it from there
FROM formats
JOIN _stack_frames AS callers ON callers.id = formats.id AND callers.frame = formats.frame + 1
