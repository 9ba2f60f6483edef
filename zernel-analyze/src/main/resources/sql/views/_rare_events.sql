-- Events of which a recording has few: all kinds but the frequent ones, outermost calls only.
--
-- Views that read such kinds read them here: one pass over the recording instead of one each. Launches are in
-- `_launched`, what only NCCL's calls have in `_nccl_calls`. What one kind alone has is not here: reading one kind from
-- the recording takes little. Sorted, because scattered rows take longer to store.
--
-- needs: events
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
    addr, -- address
    device, -- GPU
    stream, -- CUDA stream
    count, -- how many
    status, -- return code
    copy_kind, -- direction of a copy
    async, -- 1 when a copy is asynchronous by its name
    host_memory -- pinned or pageable
FROM events
WHERE kind NOT IN (
        'cuda_launch', 'torch_alloc', 'torch_free', 'io', 'io_open', 'wait', 'sched', 'torch_op', 'py_call', 'call',
        'gpu_kernel', 'gpu_memcpy', 'gpu_memset', 'gpu_sample', 'gpu_process'
    )
    AND outermost(depth, ts_ns)
ORDER BY recording, pid, tid, ts_ns
