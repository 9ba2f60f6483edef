-- Stacks in a module of PyTorch, and whether they are of a forward pass.
--
-- What Python's standard library does in a module is not the forward pass, which computes in PyTorch: formatting of
-- stacks (anomaly detection), copies, logging.
--
-- needs: _stack_frames
CREATE TABLE _module_stacks AS
WITH
    inner_frames AS (
        SELECT
            id,
            bool_or(module = 'torch' AND function IN ('Module._call_impl', '_call_impl')) AS in_module,
            arg_min(coalesce(module, ''), frame) FILTER (NOT native) AS module,
            arg_min(coalesce(file, ''), frame) FILTER (NOT native) AS file
        FROM _stack_frames
        GROUP BY id
    )
SELECT
    id, -- number of the stack
    module <> 'python' AS forward, -- whether it is of a forward pass
    CASE WHEN module = 'python' THEN regexp_extract(file, '[^/]*$') END
        AS library_file -- file of the standard library that it is in; NULL in the forward pass
FROM inner_frames
WHERE in_module
