-- Every call of a collective, with its number on the communicator, which is the same in all ranks.
--
-- Sends and receives do not count, because not all ranks take part. The recorder counts all operations of a
-- communicator from its first, so where there are none of them its count is the number, also in a recording that lacks
-- the beginning, such as a flight recorder's. Calls on communicators that were made before recording began cannot be
-- matched between ranks, and are no rows.
--
-- needs: events
CREATE TABLE _collective_calls AS
WITH
    calls AS (
        SELECT
            recording,
            pid,
            tid,
            communicator,
            comm_id,
            seq,
            name,
            op,
            dtype,
            count,
            bytes,
            peer,
            rank,
            nranks,
            ts_ns,
            dur_ns,
            name IN ('ncclSend', 'ncclRecv') AS one_sided
        FROM events
        WHERE kind = 'nccl' AND coalesce(depth, 0) = 0 AND comm_id IS NOT NULL AND seq IS NOT NULL
    ),
    mixed AS (
        SELECT DISTINCT comm_id
        FROM calls
        WHERE one_sided
    )
SELECT
    calls.recording, -- recording
    calls.pid, -- process
    calls.tid, -- thread
    calls.comm_id, -- communicator, the same number in all ranks
    CASE
        WHEN mixed.comm_id IS NULL THEN calls.seq
        ELSE row_number() OVER (
            PARTITION BY calls.recording, calls.pid, calls.communicator, calls.comm_id
            ORDER BY calls.seq
        ) - 1
    END AS number, -- number of the collective on it, from 0
    calls.name, -- NCCL function
    calls.op, -- reduction
    calls.dtype, -- type of the elements
    calls.count, -- elements
    calls.bytes, -- [bytes] of this rank
    calls.peer, -- root, where there is one
    calls.rank, -- rank in the communicator
    calls.nranks, -- ranks of the communicator
    calls.ts_ns, -- [ns] when the rank called, by its own clock
    calls.dur_ns -- [ns] time to enqueue; NULL when the call was not seen to return
FROM calls
LEFT JOIN mixed ON mixed.comm_id = calls.comm_id
WHERE NOT calls.one_sided
