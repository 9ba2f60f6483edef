-- Each collective with the ranks that called it: who came last, and how much later than the others.
--
-- Ranks are matched by communicator (`comm_id`) and number of the collective on it; sends and receives are not counted,
-- because not all ranks take part. Arrival is when the rank calls, on its CPU; the GPU begins later. Times of several
-- machines are compared as far as host_clocks knows their clocks: a delay that is not above `error_ns` names no rank,
-- and one that cannot be compared is NULL. A collective of which a rank is missing has one that was not recorded, or
-- that never came. Of jobs that do not use NCCL, all waits of a step in torch.distributed count as one.
--
-- needs: rank_arrivals
CREATE TABLE collective_arrivals AS
WITH
    arrivals AS (
        SELECT
            comm_id,
            number,
            min(name) AS name,
            max(bytes) AS bytes,
            max(nranks) AS nranks,
            count(DISTINCT rank) AS ranks,
            count(DISTINCT clock) AS hosts,
            count(*) = count(error_ns) OR count(DISTINCT clock) = 1 AS comparable,
            min(at_ns) AS first_ns,
            max(at_ns, 2) AS last_ns,
            CASE
                WHEN arg_max(clock, at_ns) <> arg_min(clock, at_ns)
                    THEN arg_max(error_ns, at_ns) + arg_min(error_ns, at_ns)
                ELSE 0
            END AS error_ns,
            arg_max(rank, at_ns) AS late_rank,
            arg_max(recording, at_ns) AS late_recording,
            arg_max(pid, at_ns) AS late_pid,
            arg_max(ts_ns, at_ns) AS late_ns
        FROM rank_arrivals
        GROUP BY comm_id, number
        HAVING count(DISTINCT name) = 1
    )
SELECT
    comm_id, -- communicator, the same number in all ranks
    number, -- number of the collective on it, from 0
    name, -- NCCL function, or torch.distributed
    bytes, -- [bytes] of one rank
    nranks, -- ranks of the communicator
    ranks, -- ranks that were seen to call it
    hosts, -- machines they ran on
    first_ns, -- [ns] when the first rank called
    CASE WHEN comparable THEN last_ns[1] - first_ns END AS skew_ns, -- [ns] how much later the last one did
    CASE WHEN comparable THEN last_ns[1] - last_ns[2] END AS behind_ns, -- [ns] how much later than the last but one
    CASE WHEN comparable THEN error_ns END AS error_ns, -- [ns] by which these may be off, +-; 0 on one machine
    CASE WHEN comparable AND last_ns[1] - first_ns > error_ns THEN late_rank END AS late_rank, -- who came last
    late_recording, -- its recording
    late_pid, -- its process
    late_ns -- [ns] when it called, by its own clock
FROM arrivals
