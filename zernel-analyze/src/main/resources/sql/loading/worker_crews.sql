-- DataLoader workers of each training process together: how many at once, and what they did.
--
-- A loader without persistent workers starts new ones for every pass, so there can be more processes than workers.
-- The number at once is the median, over the workers, of how many were alive in the middle of the worker's life.
--
-- needs: workers
-- digest: kept
CREATE TABLE worker_crews AS
WITH
    siblings AS (
        SELECT workers.recording, workers.pid, count(*) AS alive
        FROM workers
        JOIN workers AS others
            ON others.recording = workers.recording
            AND others.ppid = workers.ppid
            AND others.start_ns <= workers.start_ns + workers.window_ns // 2
            AND others.start_ns + others.window_ns > workers.start_ns + workers.window_ns // 2
        GROUP BY ALL
    )
SELECT
    workers.recording, -- recording
    workers.ppid AS pid, -- process that trains
    count(*) AS processes, -- worker processes in all
    CAST(quantile_disc(siblings.alive, 0.5) AS BIGINT) AS at_once, -- workers alive at once
    CAST(sum(workers.window_ns) AS BIGINT) AS window_ns, -- [ns] their lives together
    sum(workers.idle_ns) / sum(workers.window_ns) AS idle_share, -- share waiting for an index, 0 to 1
    sum(workers.blocked_ns) / sum(workers.window_ns) AS blocked_share, -- share blocked on something else but files
    sum(workers.io_ns) / sum(workers.window_ns) AS io_share, -- share in read calls of files
    sum(workers.cpu_ns) / sum(workers.window_ns) AS cpu_share, -- share of the rest: on a CPU, at most
    sum(workers.runq_ns) / sum(workers.window_ns) AS runq_share, -- share ready to run, without a CPU, 0 to 1
    CAST(sum(workers.read_bytes) AS BIGINT) AS read_bytes -- [bytes] read
FROM workers
JOIN siblings ON siblings.recording = workers.recording AND siblings.pid = workers.pid
WHERE workers.ppid IS NOT NULL
GROUP BY workers.recording, workers.ppid
ORDER BY workers.recording, workers.ppid
