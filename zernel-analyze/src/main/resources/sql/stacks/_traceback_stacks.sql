-- Stacks in which PyTorch formats the stack of an operator, as anomaly detection of autograd does for each.
--
-- It calls a function of its own for that; earlier versions that of Python's standard library. A program that calls
-- this one does so from its own code.
--
-- needs: _stack_frames
CREATE TABLE _traceback_stacks AS
SELECT
    formats.id -- number of the stack
FROM _stack_frames AS formats
LEFT JOIN _stack_frames AS callers ON callers.id = formats.id AND callers.frame = formats.frame + 1
WHERE formats.function = 'format_stack'
    AND NOT formats.native
    AND regexp_matches(formats.file, '/traceback\.py$')
    AND 'torch' IN (formats.module, callers.module)
GROUP BY formats.id
