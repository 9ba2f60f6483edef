-- Events of which a recording has few: all kinds but the frequent ones, outermost calls only.
--
-- Views that read such kinds read them here: one pass over the recording instead of one each. Launches are in
-- `_launched`, what only NCCL's calls have in `_nccl_calls`. What few kinds have is not here: to read them from the
-- recording takes little. The kinds are those that threads have, so row groups with none of them are skipped. Sorted,
-- because scattered rows take longer to store, and to sort again for who reads them.
--
-- needs: events, _thread_kinds
CREATE TABLE _rare_events AS
SELECT
    recording, -- recording
    kind, -- not launches, PyTorch's allocations, reads, waits, operators, nor what was measured or ran on the GPU
    name, -- name
    ts_ns, -- [ns] start
    dur_ns, -- [ns] duration, NULL for an instant or an unseen end
    pid, -- process
    tid, -- thread
    bytes, -- [bytes] bytes
    kind = 'cuda_copy' AND CASE copy_kind
        WHEN 'DtoH' THEN async = 0 OR host_memory = 'pageable'
        WHEN 'HtoD' THEN async = 0
        WHEN 'PtoP' THEN async = 0
        WHEN 'default' THEN async = 0
    END AS blocks, -- whether it is a copy that returns when it is done
    kind = 'cuda_copy' AND copy_kind = 'HtoD' AND host_memory = 'pageable' AS pageable -- whether it copies from such
FROM events
WHERE kind IN (
        SELECT kind
        FROM _thread_kinds
        WHERE kind NOT IN (
            'cuda_launch', 'torch_alloc', 'torch_free', 'io', 'io_open', 'wait', 'sched', 'torch_op', 'py_call',
            'call', 'gpu_kernel', 'gpu_memcpy', 'gpu_memset', 'gpu_sample', 'gpu_process'
        )
    )
    AND outermost(depth, ts_ns)
ORDER BY recording, pid, tid, ts_ns
