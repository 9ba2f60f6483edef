-- Calls of NCCL with what only they have: what was sent on which communicator. Outermost calls only.
--
-- needs: events
CREATE TABLE _nccl_calls AS
SELECT
    recording, -- recording
    kind, -- nccl or nccl_comm
    name, -- NCCL function
    ts_ns, -- [ns] start
    dur_ns, -- [ns] time to enqueue, NULL for an unseen end
    pid, -- process
    tid, -- thread
    bytes, -- [bytes] bytes
    stream, -- CUDA stream
    count, -- elements
    status, -- return code
    dtype, -- type of the elements
    op, -- reduction
    peer, -- root or peer
    communicator, -- handle of the communicator
    comm_id, -- communicator, the same in all ranks
    seq, -- number of the operation on its communicator
    rank, -- rank in the communicator
    nranks, -- ranks in the communicator
    grouped -- 1 inside a group
FROM events
WHERE kind IN ('nccl', 'nccl_comm')
    AND (kind IN ('nccl', 'nccl_comm')) IS TRUE
    AND outermost(depth, ts_ns)
