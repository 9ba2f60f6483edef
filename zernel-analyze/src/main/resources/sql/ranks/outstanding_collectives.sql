-- Collectives that a rank had enqueued and that were not done yet, over time.
--
-- One row per change. A collective counts from its call until the first wait for the GPU that began after it returns,
-- so the number is an upper bound between two waits; one that was never seen to be done counts to the end. A rank that
-- stands still keeps what it had.
--
-- needs: _collective_calls
CREATE VIEW outstanding_collectives AS
WITH
    changes AS (
        SELECT recording, pid, comm_id, rank, ts_ns AS at_ns, 1 AS change, bytes
        FROM _collective_calls
        UNION ALL
        SELECT recording, pid, comm_id, rank, done_ns, -1, -bytes
        FROM _collective_calls
        WHERE done_ns IS NOT NULL
    ),
    moments AS (
        SELECT recording, pid, comm_id, rank, at_ns, sum(change) AS change, sum(bytes) AS bytes
        FROM changes
        GROUP BY ALL
    )
SELECT
    recording, -- recording
    pid, -- process
    comm_id, -- communicator, the same number in all ranks
    rank, -- its rank in it
    at_ns, -- [ns] when the number changed, by the clock of the machine
    CAST(sum(change) OVER change_order AS BIGINT) AS outstanding, -- collectives enqueued and not done from then on
    CAST(sum(bytes) OVER change_order AS BIGINT) AS outstanding_bytes -- [bytes] of them, in this rank
FROM moments
WINDOW change_order AS (PARTITION BY recording, pid, comm_id ORDER BY at_ns ROWS UNBOUNDED PRECEDING)
ORDER BY recording, pid, comm_id, at_ns
