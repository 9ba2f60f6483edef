-- Passes over a loader that began with new workers, summed per training thread. The first pass is left out.
--
-- Such a start takes from the first fork to the first batch of each new worker: they take turns, and one that comes up
-- later than the first is waited for again. Workers that stay would have to load a batch too, so the mean time of
-- loading one is taken off.
--
-- needs: data_wait, workers, worker_crews
CREATE TABLE worker_starts AS
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
    turns AS (
        SELECT
            forks.recording,
            forks.pid,
            forks.tid,
            forks.epoch,
            any_value(forks.forked_ns) AS forked_ns,
            any_value(crews.at_once) AS at_once,
            any_value(crews.window_ns * (1 - crews.idle_share)) AS loading_ns,
            min(data_wait.start_ns) AS start_ns,
            count(*) AS waits,
            sum(data_wait.dur_ns) AS wait_ns
        FROM forks
        JOIN worker_crews AS crews ON crews.recording = forks.recording AND crews.pid = forks.pid
        JOIN data_wait
            ON data_wait.recording = forks.recording
            AND data_wait.pid = forks.pid
            AND data_wait.tid = forks.tid
            AND data_wait.epoch = forks.epoch
            AND data_wait.batch <= crews.at_once
        GROUP BY forks.recording, forks.pid, forks.tid, forks.epoch
    ),
    usual AS (
        SELECT recording, pid, tid, count(*) AS waits, median(dur_ns) AS wait_ns
        FROM data_wait
        GROUP BY ALL
    )
SELECT
    turns.recording, -- recording
    turns.pid, -- process
    turns.tid, -- training thread
    count(*) AS passes, -- later passes that began with new workers
    CAST(sum(turns.wait_ns) AS BIGINT) AS first_ns, -- [ns] waits for the first batch of each worker in these passes
    CAST(sum(turns.waits) * any_value(usual.wait_ns) AS BIGINT) AS usual_ns, -- [ns] as many usual waits
    CAST(sum(turns.start_ns - turns.forked_ns + turns.wait_ns) AS BIGINT)
        AS all_ns, -- [ns] the same, from the first fork on
    CAST(greatest(
        sum(turns.start_ns - turns.forked_ns + turns.wait_ns)
            - sum(turns.waits) * any_value(usual.wait_ns)
            - count(*) * any_value(turns.loading_ns / usual.waits),
        0
    ) AS BIGINT) AS start_ns -- [ns] that the starts took, beyond loading the first batch
FROM turns
JOIN usual ON usual.recording = turns.recording AND usual.pid = turns.pid AND usual.tid = turns.tid
GROUP BY turns.recording, turns.pid, turns.tid
ORDER BY turns.recording, turns.pid, turns.tid
