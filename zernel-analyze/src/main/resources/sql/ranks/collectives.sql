-- NCCL operations per communicator, function and size: how many, how large, and how late the last rank came.
--
-- The time is that of the call, which only enqueues; what the GPUs need is not known from here. The skew is how much
-- later the last rank calls than the first; it is NULL where other ranks were not recorded or cannot be matched. In a
-- group the work is issued when the group ends, so its calls take no time.
--
-- needs: _nccl_calls, collective_arrivals
CREATE VIEW collectives AS
WITH
    sized AS (
        SELECT
            comm_id,
            CASE WHEN comm_id IS NULL THEN recording END AS only_recording,
            CASE WHEN comm_id IS NULL THEN pid END AS only_pid,
            CASE WHEN comm_id IS NULL THEN communicator END AS only_communicator,
            name,
            dtype,
            op,
            CASE
                WHEN bytes IS NULL THEN NULL
                WHEN bytes < 1024 THEN '< 1 KiB'
                WHEN bytes < 65536 THEN '< 64 KiB'
                WHEN bytes < 1048576 THEN '< 1 MiB'
                WHEN bytes < 16777216 THEN '< 16 MiB'
                ELSE '>= 16 MiB'
            END AS size,
            bytes,
            rank,
            nranks,
            dur_ns,
            status
        FROM _nccl_calls
        WHERE kind = 'nccl'
            AND name NOT IN ('ncclGroupStart', 'ncclGroupEnd')
    ),
    sums AS (
        SELECT
            comm_id,
            only_recording,
            only_pid,
            only_communicator,
            name,
            dtype,
            op,
            size,
            count(*) AS calls,
            count(DISTINCT rank) AS ranks,
            max(nranks) AS nranks,
            count(CASE WHEN status <> 0 THEN 1 END) AS failed,
            sum(bytes) AS bytes,
            sum(dur_ns) AS sum_ns,
            quantile_cont(dur_ns, [0.5, 0.99]) AS q,
            max(dur_ns) AS max_ns
        FROM sized
        GROUP BY ALL
    ),
    arrivals AS (
        SELECT
            comm_id,
            name,
            CASE
                WHEN bytes IS NULL THEN NULL
                WHEN bytes < 1024 THEN '< 1 KiB'
                WHEN bytes < 65536 THEN '< 64 KiB'
                WHEN bytes < 1048576 THEN '< 1 MiB'
                WHEN bytes < 16777216 THEN '< 16 MiB'
                ELSE '>= 16 MiB'
            END AS size,
            quantile_cont(skew_ns, [0.5, 0.99]) AS skew,
            mode(late_rank ORDER BY late_rank) AS late_rank
        FROM collective_arrivals
        WHERE by_all
        GROUP BY ALL
    )
SELECT
    sums.comm_id, -- communicator, the same number in all ranks; NULL when it was made before recording began
    sums.only_recording AS recording, -- recording, where the communicator is not known
    sums.only_pid AS pid, -- process, where the communicator is not known
    sums.only_communicator AS communicator, -- handle, where the communicator is not known
    sums.name, -- NCCL function
    sums.op, -- reduction
    sums.dtype, -- type of the elements
    sums.size, -- class of the size in one rank
    sums.nranks, -- ranks of the communicator
    sums.ranks, -- ranks that were recorded
    sums.calls, -- calls in all ranks
    sums.failed, -- calls that returned an error
    CAST(sums.bytes AS BIGINT) AS bytes, -- [bytes] of all calls
    CAST(sums.sum_ns AS BIGINT) AS sum_ns, -- [ns] time to enqueue, all calls
    CAST(sums.q[1] AS BIGINT) AS p50_ns, -- [ns] median
    CAST(sums.q[2] AS BIGINT) AS p99_ns, -- [ns] 99th percentile
    sums.max_ns, -- [ns] longest
    CAST(arrivals.skew[1] AS BIGINT) AS skew_p50_ns, -- [ns] median delay of the last rank after the first
    CAST(arrivals.skew[2] AS BIGINT) AS skew_p99_ns, -- [ns] 99th percentile of it
    arrivals.late_rank -- rank that most often came last
FROM sums
LEFT JOIN arrivals
    ON arrivals.comm_id = sums.comm_id
    AND arrivals.name = sums.name
    AND arrivals.size IS NOT DISTINCT FROM sums.size
ORDER BY
    sums.comm_id, recording, pid, communicator, sums.name, sums.op, sums.dtype, sums.bytes / sums.calls, sums.nranks
