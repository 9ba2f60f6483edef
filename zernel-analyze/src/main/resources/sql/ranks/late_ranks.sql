-- Ranks by how often they came last to a collective, how late, and why.
--
-- Only collectives that all recorded ranks called count, and only delays above the error of clocks. One rank that is
-- nearly always last holds up the others; where all ranks are last about as often, their lateness is noise. The cause
-- is the most frequent one of the steps in which the rank came last: what it then spent more time on than the others.
--
-- needs: collective_arrivals, late_steps
CREATE VIEW late_ranks AS
WITH
    complete AS (
        SELECT comm_id, nranks, hosts, skew_ns, behind_ns, late_rank, late_recording, late_pid
        FROM collective_arrivals
        WHERE by_all
    ),
    totals AS (
        SELECT comm_id, count(*) AS collectives
        FROM complete
        GROUP BY ALL
    ),
    ranks AS (
        SELECT
            comm_id,
            late_rank AS rank,
            any_value(late_recording) AS recording,
            any_value(late_pid) AS pid,
            max(nranks) AS nranks,
            max(hosts) AS hosts,
            count(*) AS times_last,
            quantile_cont(skew_ns, [0.5, 0.99]) AS skew,
            median(behind_ns) AS behind_ns,
            max(skew_ns) AS max_skew_ns
        FROM complete
        WHERE late_rank IS NOT NULL
        GROUP BY ALL
    ),
    causes AS (
        SELECT comm_id, late_rank AS rank, cause, count(*) AS steps
        FROM late_steps
        WHERE late_rank IS NOT NULL
        GROUP BY ALL
    ),
    main_causes AS (
        SELECT comm_id, rank, arg_max(coalesce(cause, 'not known'), (steps, coalesce(cause, ''))) AS cause
        FROM causes
        GROUP BY ALL
    )
SELECT
    ranks.comm_id, -- communicator, the same number in all ranks
    ranks.rank, -- the rank
    ranks.recording, -- its recording
    ranks.pid, -- its process
    ranks.nranks, -- ranks of the communicator
    ranks.hosts, -- machines they ran on
    totals.collectives, -- collectives that all ranks called
    ranks.times_last, -- of them, those to which this rank came last
    ranks.times_last / totals.collectives AS share, -- the same as a share, 0 to 1
    CAST(ranks.skew[1] AS BIGINT) AS skew_p50_ns, -- [ns] median delay after the first rank, where it came last
    CAST(ranks.skew[2] AS BIGINT) AS skew_p99_ns, -- [ns] 99th percentile of it
    ranks.max_skew_ns, -- [ns] longest
    CAST(ranks.behind_ns AS BIGINT) AS behind_p50_ns, -- [ns] median delay after the last but one, where it came last
    main_causes.cause -- data wait, preemption, allocation, checkpoint, compute, asleep, slow GPU, other or not known
FROM ranks
JOIN totals ON totals.comm_id = ranks.comm_id
LEFT JOIN main_causes ON main_causes.comm_id = ranks.comm_id AND main_causes.rank = ranks.rank
ORDER BY ranks.comm_id, ranks.times_last DESC, ranks.rank
