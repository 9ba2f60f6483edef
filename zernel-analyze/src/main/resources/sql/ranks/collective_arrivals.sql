-- Each collective with the ranks that called it: who came last, and how much later than the others.
--
-- Ranks are matched by communicator (`comm_id`) and number of the collective on it; sends and receives are not counted,
-- because not all ranks take part. Arrival is when the rank calls, on its CPU; the GPU begins later. Times of several
-- machines are compared as far as host_clocks knows their clocks: a delay that is not above `error_ns` names no rank,
-- and one that cannot be compared is NULL. A collective of which a rank is missing has one that was not recorded, or
-- that never came. Of jobs that do not use NCCL, all waits of a step in torch.distributed count as one.
--
-- needs: _arrivals, recording_clocks
-- dialect: common
CREATE TABLE collective_arrivals AS
WITH
    members AS (
        SELECT DISTINCT comm_id, rank, recording, pid
        FROM _arrivals
    ),
    -- A rank that was started again is two processes; else each row is another rank.
    doubled AS (
        SELECT comm_id, max(processes) > 1 AS doubled
        FROM (SELECT comm_id, rank, count(*) AS processes FROM members GROUP BY comm_id, rank)
        GROUP BY comm_id
    ),
    ends AS (
        SELECT comm_id, number, min(at_ns) AS first_ns, max(at_ns) AS last_ns
        FROM _arrivals
        GROUP BY comm_id, number
    ),
    -- Of ranks that came at the same moment, the one of the lowest number came last.
    grouped AS (
        SELECT
            arrivals.comm_id,
            arrivals.number,
            min(arrivals.name) AS name,
            max(arrivals.bytes) AS bytes,
            max(arrivals.nranks) AS nranks,
            CASE
                WHEN bool_or(doubled.doubled) THEN count(DISTINCT arrivals.rank) FILTER (WHERE doubled.doubled)
                ELSE count(*)
            END AS ranks,
            min(clocks.machine) = max(clocks.machine) AS one_host,
            count(*) = count(arrivals.error_ns) AS compared,
            max(ends.first_ns) AS first_ns,
            max(ends.last_ns) AS last_ns,
            CASE
                WHEN count(*) FILTER (WHERE arrivals.at_ns = ends.last_ns) > 1 THEN max(ends.last_ns)
                ELSE max(arrivals.at_ns) FILTER (WHERE arrivals.at_ns < ends.last_ns)
            END AS last_but_one_ns,
            CASE
                WHEN max_by(clocks.machine, -arrivals.rank) FILTER (WHERE arrivals.at_ns = ends.last_ns)
                        <> max_by(clocks.machine, -arrivals.rank) FILTER (WHERE arrivals.at_ns = ends.first_ns)
                    THEN max_by(arrivals.error_ns, -arrivals.rank) FILTER (WHERE arrivals.at_ns = ends.last_ns)
                        + max_by(arrivals.error_ns, -arrivals.rank) FILTER (WHERE arrivals.at_ns = ends.first_ns)
                ELSE 0
            END AS error_ns,
            min(arrivals.rank) FILTER (WHERE arrivals.at_ns = ends.last_ns) AS late_rank,
            max_by(arrivals.recording, -arrivals.rank) FILTER (WHERE arrivals.at_ns = ends.last_ns) AS late_recording,
            max_by(arrivals.pid, -arrivals.rank) FILTER (WHERE arrivals.at_ns = ends.last_ns) AS late_pid,
            max_by(arrivals.ts_ns, -arrivals.rank) FILTER (WHERE arrivals.at_ns = ends.last_ns) AS late_ns
        FROM _arrivals AS arrivals
        JOIN ends ON ends.comm_id = arrivals.comm_id AND ends.number = arrivals.number
        JOIN doubled ON doubled.comm_id = arrivals.comm_id
        JOIN recording_clocks AS clocks ON clocks.recording = arrivals.recording
        GROUP BY arrivals.comm_id, arrivals.number
        HAVING min(arrivals.name) = max(arrivals.name)
    ),
    counted AS (
        SELECT
            grouped.*,
            max(ranks) OVER (PARTITION BY comm_id) AS recorded,
            one_host OR compared AS comparable
        FROM grouped
    ),
    machines AS (
        SELECT members.comm_id, count(DISTINCT clocks.machine) AS hosts
        FROM members
        JOIN recording_clocks AS clocks ON clocks.recording = members.recording
        GROUP BY members.comm_id
    ),
    partly AS (
        SELECT arrivals.comm_id, arrivals.number, count(DISTINCT clocks.machine) AS hosts
        FROM _arrivals AS arrivals
        JOIN counted ON counted.comm_id = arrivals.comm_id AND counted.number = arrivals.number
        JOIN recording_clocks AS clocks ON clocks.recording = arrivals.recording
        WHERE counted.ranks < counted.recorded
        GROUP BY arrivals.comm_id, arrivals.number
    )
SELECT
    counted.comm_id, -- communicator, the same number in all ranks
    counted.number, -- number of the collective on it, from 0
    counted.name, -- NCCL function, or torch.distributed
    counted.bytes, -- [bytes] of one rank
    counted.nranks, -- ranks of the communicator
    counted.ranks, -- ranks that were seen to call it
    nranks > 1 AND ranks = recorded AND 2 * ranks > nranks
        AS by_all, -- whether all ranks did that were recorded, and these are most
    coalesce(partly.hosts, machines.hosts) AS hosts, -- machines they ran on
    first_ns, -- [ns] when the first rank called
    CASE WHEN comparable THEN last_ns - first_ns END AS skew_ns, -- [ns] how much later the last one did
    CASE WHEN comparable THEN last_ns - last_but_one_ns END AS behind_ns, -- [ns] how much later than the last but one
    CASE WHEN comparable THEN error_ns END AS error_ns, -- [ns] by which these may be off, +-; 0 on one machine
    CASE WHEN comparable AND last_ns - first_ns > error_ns THEN late_rank END AS late_rank, -- who came last
    late_recording, -- its recording
    late_pid, -- its process
    late_ns -- [ns] when it called, by its own clock
FROM counted
JOIN machines ON machines.comm_id = counted.comm_id
LEFT JOIN partly ON partly.comm_id = counted.comm_id AND partly.number = counted.number
