-- Stacks in a module of PyTorch, and whether they are of a forward pass.
--
-- Not the forward pass, which computes in PyTorch, is what Python does in a module: the user's own code, and the
-- standard library, which formats stacks (anomaly detection), copies and logs. Nor is a hook of the user's own,
-- whatever it calls: a function other than `forward` that a module calls.
--
-- needs: _stack_frames, _own_stacks
CREATE TABLE _module_stacks AS
WITH
    calls AS (
        SELECT
            id,
            min(frame) FILTER (
                NOT native AND module = 'torch' AND regexp_matches(function, '(^|\.)_call_impl\b')
            ) AS call,
            min(frame) FILTER (NOT native AND regexp_matches(function, '(^|\.)forward$')) AS forward,
            coalesce(
                bool_or(native AND regexp_matches(file, '^lib(torch_(cpu|cuda|xpu)|mkl|dnnl|[gi]?omp)')),
                FALSE
            ) AS operates
        FROM _stack_frames
        GROUP BY id
    ),
    inner_frames AS (
        SELECT
            frames.id,
            bool_or(
                frames.frame = calls.call - 1
                AND frames.module IS NULL
                AND (calls.forward < calls.call) IS NOT TRUE
            ) AS hook,
            any_value(calls.operates) AS operates,
            arg_min(coalesce(frames.module, ''), frames.frame) AS module,
            arg_min(coalesce(frames.file, ''), frames.frame) AS file
        FROM _stack_frames AS frames
        JOIN calls ON calls.id = frames.id
        WHERE calls.call IS NOT NULL AND NOT frames.native
        GROUP BY frames.id
    )
SELECT
    frames.id, -- number of the stack
    own.id IS NULL AND NOT frames.hook AND frames.module <> 'python' AS forward, -- whether it is of a forward pass
    own.id IS NULL AND NOT frames.hook AND frames.module <> 'python' AND frames.operates
        AS operates, -- whether that is certain, as an operator runs; else it may be what Python leaves behind
    frames.module <> 'python' AND (own.id IS NOT NULL OR frames.hook)
        AS own, -- whether it is in Python code of the user's own that the module called, or in a hook
    CASE WHEN frames.module = 'python' THEN regexp_extract(frames.file, '[^/]*$') END
        AS library_file -- file of the standard library that it is in; NULL elsewhere
FROM inner_frames AS frames
LEFT JOIN _own_stacks AS own ON own.id = frames.id
