-- Stacks in Python code of the user's own, or in what that called other than PyTorch.
--
-- No operator of PyTorch runs there: no frame of PyTorch, Python or native, is inside the innermost of the user's own.
-- What turns values of Python into tensors and back, such as `tolist` and `torch.tensor`, is no operator. Where the
-- thread is in the C library or in code without a file, nothing may tell who called that: such stacks are not among
-- these.
--
-- needs: _stack_frames
CREATE TABLE _own_stacks AS
WITH
    inner_frames AS (
        SELECT
            id,
            min(frame) FILTER (own) AS own,
            min(frame) FILTER (NOT native AND module = 'torch') AS torch,
            min(frame) FILTER (
                native
                AND coalesce(regexp_matches(file, '^(lib(torch|c10|mkl|dnnl|[gi]?omp|c\.|m\.|stdc|gcc)|ld-)'), TRUE)
                AND NOT coalesce(regexp_matches(function, '\btorch::utils::'), FALSE)
            ) AS operator
        FROM _stack_frames
        GROUP BY id
    )
SELECT
    id, -- number of the stack
    torch IS NOT NULL AS in_torch -- whether PyTorch called that code, as a module, a hook or a function of autograd
FROM inner_frames
WHERE own IS NOT NULL
    AND (torch < own) IS NOT TRUE
    AND (operator < own) IS NOT TRUE
