-- Each collective with the ranks that called it: who came last, and how much later than the first.
--
-- Ranks are matched by communicator (`comm_id`) and number of the collective on it; sends and receives are not counted,
-- because not all ranks take part. Arrival is when the rank calls, on its CPU; the GPU begins later. Clocks of several
-- hosts differ, so `hosts` says from how many the calls are. A collective of which a rank is missing has one that was
-- not recorded, or that never came.
--
-- needs: events, recordings
CREATE TABLE collective_arrivals AS
WITH
    calls AS (
        SELECT
            recording,
            pid,
            comm_id,
            row_number() OVER (PARTITION BY recording, pid, communicator, comm_id ORDER BY seq) - 1 AS number,
            name,
            bytes,
            rank,
            nranks,
            ts_ns
        FROM events
        WHERE kind = 'nccl'
            AND coalesce(depth, 0) = 0
            AND comm_id IS NOT NULL
            AND seq IS NOT NULL
            AND name NOT IN ('ncclSend', 'ncclRecv')
    )
SELECT
    calls.comm_id, -- communicator, the same number in all ranks
    calls.number, -- number of the collective on it, from 0
    min(calls.name) AS name, -- NCCL function
    max(calls.bytes) AS bytes, -- [bytes] of one rank
    max(calls.nranks) AS nranks, -- ranks of the communicator
    count(DISTINCT calls.rank) AS ranks, -- ranks that were seen to call it
    count(DISTINCT coalesce(recordings.host, '')) AS hosts, -- machines they ran on
    min(calls.ts_ns) AS first_ns, -- [ns] when the first rank called
    max(calls.ts_ns) - min(calls.ts_ns) AS skew_ns, -- [ns] how much later the last one did
    arg_max(calls.rank, calls.ts_ns) AS late_rank, -- the rank that came last
    arg_max(calls.recording, calls.ts_ns) AS late_recording, -- its recording
    arg_max(calls.pid, calls.ts_ns) AS late_pid -- its process
FROM calls
LEFT JOIN recordings ON recordings.recording = calls.recording
GROUP BY calls.comm_id, calls.number
HAVING count(DISTINCT calls.name) = 1
