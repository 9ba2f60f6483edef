-- Every call of a collective, with its number on the communicator, which is the same in all ranks.
--
-- Sends and receives do not count, because not all ranks take part. The recorder counts all operations of a
-- communicator from its first, so where there are none of them its count is the number, also in a recording that lacks
-- the beginning, such as a flight recorder's. Calls on communicators that were made before recording began cannot be
-- matched between ranks, and are no rows. A collective is done when the first wait for the GPU that began after the
-- call returns: at the latest, hardly earlier.
--
-- needs: _nccl_calls, _syncs
-- digest: kept
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
            name IN ('ncclSend', 'ncclRecv') AS one_sided
        FROM _nccl_calls
        WHERE kind = 'nccl' AND comm_id IS NOT NULL AND seq IS NOT NULL
    ),
    mixed AS (
        SELECT DISTINCT comm_id
        FROM calls
        WHERE one_sided
    ),
    numbered AS (
        SELECT
            calls.recording,
            calls.pid,
            calls.tid,
            calls.comm_id,
            CASE
                WHEN mixed.comm_id IS NULL THEN calls.seq
                ELSE row_number() OVER (
                    PARTITION BY calls.recording, calls.pid, calls.communicator, calls.comm_id
                    ORDER BY calls.seq
                ) - 1
            END AS number,
            calls.name,
            calls.op,
            calls.dtype,
            calls.count,
            calls.bytes,
            calls.peer,
            calls.rank,
            calls.nranks,
            calls.ts_ns
        FROM calls
        LEFT JOIN mixed ON mixed.comm_id = calls.comm_id
        WHERE NOT calls.one_sided
    )
SELECT
    numbered.recording, -- recording
    numbered.pid, -- process
    numbered.tid, -- thread
    numbered.comm_id, -- communicator, the same number in all ranks
    numbered.number, -- number of the collective on it, from 0
    numbered.name, -- NCCL function
    numbered.op, -- reduction
    numbered.dtype, -- type of the elements
    numbered.count, -- elements
    numbered.bytes, -- [bytes] of this rank
    numbered.peer, -- root, where there is one
    numbered.rank, -- rank in the communicator
    numbered.nranks, -- ranks of the communicator
    numbered.ts_ns, -- [ns] when the rank called, by its own clock
    _syncs.end_ns AS done_ns -- [ns] when it was done, at the latest; NULL when that was not seen
FROM numbered
ASOF LEFT JOIN _syncs
    ON _syncs.recording = numbered.recording
    AND _syncs.pid = numbered.pid
    AND _syncs.start_ns >= numbered.ts_ns
