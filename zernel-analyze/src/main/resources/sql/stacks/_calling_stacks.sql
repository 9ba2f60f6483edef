-- Stacks in what surrounds operators of PyTorch: dispatch, autograd, tensors' memory, and PyTorch's own Python.
--
-- By the innermost function, and some frame of PyTorch further out or itself. Of memory it is what the C library does
-- for a frame that is known: where none of PyTorch is, that may be any other code's. Not what runs while modules are
-- imported, nor what anomaly detection does for each operator.
--
-- needs: _stack_frames, _operator_frames, _own_stacks, _traceback_stacks
CREATE TABLE _calling_stacks AS
WITH
    in_torch AS (
        SELECT DISTINCT id
        FROM _stack_frames
        WHERE module = 'torch' OR native AND regexp_matches(file, '^lib(torch|c10)')
    )
SELECT
    frames.id -- number of the stack
FROM _operator_frames AS frames
WHERE frames.is_around
    AND frames.id IN (SELECT id FROM in_torch)
    AND frames.id NOT IN (SELECT id FROM _own_stacks)
    AND frames.id NOT IN (SELECT id FROM _traceback_stacks)
    AND frames.id NOT IN (SELECT id FROM _stack_frames WHERE is_import(file))
