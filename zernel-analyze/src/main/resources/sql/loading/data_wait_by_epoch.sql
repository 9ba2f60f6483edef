-- Waiting for data, summed over each pass (epoch) of a DataLoader.
--
-- The first wait of a pass holds the start of its workers; the last call of a pass only learns that there are no more
-- batches, and is counted as a wait too.
--
-- needs: data_wait
CREATE VIEW data_wait_by_epoch AS
WITH
    sums AS (
        SELECT
            recording,
            pid,
            tid,
            epoch,
            count(*) AS waits,
            sum(dur_ns) AS sum_ns,
            max(CASE WHEN batch = 1 THEN dur_ns END) AS first_ns,
            quantile_cont(dur_ns, [0.5, 0.9, 0.99]) AS q,
            max(dur_ns) AS max_ns,
            min(start_ns) AS start_ns,
            max(start_ns + dur_ns) AS end_ns
        FROM data_wait
        GROUP BY ALL
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that waits
    epoch, -- pass over a loader, from 1
    waits, -- calls of __next__
    CAST(sum_ns AS BIGINT) AS sum_ns, -- [ns] time inside them
    first_ns, -- [ns] the first of them
    CAST(q[1] AS BIGINT) AS p50_ns, -- [ns] median
    CAST(q[2] AS BIGINT) AS p90_ns, -- [ns] 90th percentile
    CAST(q[3] AS BIGINT) AS p99_ns, -- [ns] 99th percentile
    max_ns, -- [ns] longest
    end_ns - start_ns AS wall_ns -- [ns] from the begin of the first to the end of the last
FROM sums
ORDER BY recording, pid, tid, epoch
