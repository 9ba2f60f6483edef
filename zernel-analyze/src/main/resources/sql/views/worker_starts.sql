-- Passes over a loader that began with new workers, summed per training thread. The first pass is left out.
--
-- Such a start takes from the first fork to the first batch. Workers that stay would have to load that batch too, so
-- the mean time of loading one is taken off.
--
-- needs: data_wait, workers, worker_crews
CREATE VIEW worker_starts AS
WITH
    forks AS (
        SELECT data_wait.recording, data_wait.pid, data_wait.tid, data_wait.epoch, min(workers.forked_ns) AS forked_ns
        FROM (SELECT recording, ppid, forked_ns FROM workers WHERE forked_ns IS NOT NULL) AS workers
        ASOF JOIN data_wait
            ON data_wait.recording = workers.recording
            AND data_wait.pid = workers.ppid
            AND data_wait.start_ns >= workers.forked_ns
        WHERE data_wait.batch = 1 AND data_wait.epoch > 1
        GROUP BY ALL
    ),
    usual AS (
        SELECT recording, pid, tid, count(*) AS waits, median(dur_ns) AS wait_ns
        FROM data_wait
        GROUP BY ALL
    )
SELECT
    forks.recording, -- recording
    forks.pid, -- process
    forks.tid, -- training thread
    count(*) AS passes, -- later passes that began with new workers
    CAST(sum(data_wait.dur_ns) AS BIGINT) AS first_ns, -- [ns] first waits of these passes
    CAST(count(*) * any_value(usual.wait_ns) AS BIGINT) AS usual_ns, -- [ns] as many usual waits
    CAST(sum(data_wait.start_ns + data_wait.dur_ns - forks.forked_ns) AS BIGINT)
        AS all_ns, -- [ns] from the first fork to the first batch
    CAST(greatest(
        sum(data_wait.start_ns + data_wait.dur_ns - forks.forked_ns)
            - count(*) * any_value(
                usual.wait_ns + crews.window_ns * (crews.io_share + crews.other_share) / usual.waits
            ),
        0
    ) AS BIGINT) AS start_ns -- [ns] that the starts took, beyond loading the first batch
FROM forks
JOIN data_wait
    ON data_wait.recording = forks.recording
    AND data_wait.pid = forks.pid
    AND data_wait.tid = forks.tid
    AND data_wait.epoch = forks.epoch
    AND data_wait.batch = 1
JOIN usual ON usual.recording = forks.recording AND usual.pid = forks.pid AND usual.tid = forks.tid
JOIN worker_crews AS crews ON crews.recording = forks.recording AND crews.pid = forks.pid
GROUP BY forks.recording, forks.pid, forks.tid
ORDER BY forks.recording, forks.pid, forks.tid
