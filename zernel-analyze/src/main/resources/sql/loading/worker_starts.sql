-- Passes over a loader that began with new workers, summed per training thread. First passes are left out.
--
-- Such a start takes from when the old workers are joined, at the end of the pass before, over the forks to the first
-- batch of each new worker: they take turns, and one that comes up later than the first is waited for again. The first
-- step of the pass is slower too: pages are copied that the forks left shared, while the new workers import. Workers
-- that stay would have to load a batch too, so the mean time of loading one is taken off. What else the thread does
-- between two passes is not counted.
--
-- needs: data_wait, workers, worker_crews, steps, _crew_starts, events
-- digest: kept
CREATE TABLE worker_starts AS
WITH
    exits AS (
        SELECT workers.recording, workers.ppid AS pid, events.ts_ns
        FROM events
        JOIN workers ON workers.recording = events.recording AND workers.pid = events.pid
        WHERE events.kind = 'process' AND events.name = 'exit'
    ),
    -- Before a worker has ended none can start again: the new ones are those of another loader.
    ends AS (
        SELECT recording, pid, min(ts_ns) AS first_ns
        FROM exits
        GROUP BY recording, pid
    ),
    forks AS (
        SELECT data_wait.recording, data_wait.pid, data_wait.tid, data_wait.epoch, min(workers.forked_ns) AS forked_ns
        FROM (SELECT recording, ppid, forked_ns FROM workers WHERE forked_ns IS NOT NULL) AS workers
        ASOF JOIN data_wait
            ON data_wait.recording = workers.recording
            AND data_wait.pid = workers.ppid
            AND data_wait.start_ns >= workers.forked_ns
        JOIN ends
            ON ends.recording = data_wait.recording
            AND ends.pid = data_wait.pid
            AND ends.first_ns < data_wait.start_ns
        WHERE data_wait.batch = 1 AND data_wait.epoch > 1
        GROUP BY ALL
    ),
    loads AS (
        SELECT recording, ppid AS pid, sum(window_ns - idle_ns) AS loading_ns
        FROM workers
        GROUP BY recording, ppid
    ),
    turns AS (
        SELECT
            forks.recording,
            forks.pid,
            forks.tid,
            forks.epoch,
            any_value(forks.forked_ns) AS forked_ns,
            any_value(loads.loading_ns) AS loading_ns,
            min(data_wait.start_ns) AS start_ns,
            count(*) AS waits,
            sum(data_wait.dur_ns) AS wait_ns
        FROM forks
        JOIN worker_crews AS crews ON crews.recording = forks.recording AND crews.pid = forks.pid
        JOIN loads ON loads.recording = forks.recording AND loads.pid = forks.pid
        JOIN data_wait
            ON data_wait.recording = forks.recording
            AND data_wait.pid = forks.pid
            AND data_wait.tid = forks.tid
            AND data_wait.epoch = forks.epoch
            AND data_wait.batch <= crews.at_once
        GROUP BY forks.recording, forks.pid, forks.tid, forks.epoch
    ),
    -- `__next__` at the end of a pass ends the workers and waits for them.
    joins AS (
        SELECT waits.recording, waits.pid, waits.tid, waits.epoch, max(waits.dur_ns) AS dur_ns
        FROM exits
        ASOF JOIN data_wait AS waits
            ON waits.recording = exits.recording
            AND waits.pid = exits.pid
            AND waits.start_ns <= exits.ts_ns
        WHERE exits.ts_ns < waits.start_ns + waits.dur_ns
        GROUP BY ALL
    ),
    usual AS (
        SELECT recording, pid, tid, count(*) AS waits, median(dur_ns) AS wait_ns
        FROM data_wait
        GROUP BY ALL
    ),
    works AS (
        SELECT
            recording,
            pid,
            tid,
            median(dur_ns - data_loading_ns - unknown_ns) FILTER (WHERE step_kind = 'train') AS work_ns
        FROM steps
        GROUP BY ALL
    ),
    passes AS (
        SELECT
            turns.recording,
            turns.pid,
            turns.tid,
            turns.waits,
            turns.wait_ns,
            turns.loading_ns,
            coalesce(joins.dur_ns, 0) AS join_ns,
            coalesce(starts.end_ns - starts.start_ns, turns.start_ns - turns.forked_ns) AS fork_ns,
            coalesce(starts.most_ns, 0) AS most_ns,
            steps.step_kind = 'train' AS trains,
            CASE
                WHEN steps.step_kind = 'train' AND steps.batches <= 2
                    THEN steps.dur_ns - steps.data_loading_ns - steps.unknown_ns - works.work_ns
                ELSE 0
            END AS slower_ns
        FROM turns
        ASOF JOIN steps
            ON steps.recording = turns.recording
            AND steps.pid = turns.pid
            AND steps.tid = turns.tid
            AND steps.start_ns <= turns.start_ns
        JOIN works ON works.recording = turns.recording AND works.pid = turns.pid AND works.tid = turns.tid
        LEFT JOIN joins
            ON joins.recording = turns.recording
            AND joins.pid = turns.pid
            AND joins.tid = turns.tid
            AND joins.epoch = turns.epoch - 1
        LEFT JOIN _crew_starts AS starts
            ON starts.recording = turns.recording
            AND starts.pid = turns.pid
            AND starts.tid = turns.tid
            AND starts.end_ns = turns.start_ns
    ),
    sums AS (
        SELECT
            recording,
            pid,
            tid,
            count(*) AS passes,
            sum(join_ns) AS join_ns,
            sum(fork_ns) AS fork_ns,
            sum(wait_ns) AS first_ns,
            sum(waits) AS waits,
            count(*) * any_value(loading_ns) AS loading_ns,
            greatest(sum(slower_ns), 0) AS slower_ns,
            sum(greatest(fork_ns, most_ns)) - sum(fork_ns) AS more_ns,
            sum(CASE WHEN trains THEN join_ns + fork_ns + wait_ns ELSE 0 END) AS data_ns,
            sum(CASE WHEN trains THEN waits ELSE 0 END) AS data_waits,
            sum(CASE WHEN trains THEN 0 ELSE join_ns + fork_ns + wait_ns END) AS other_ns
        FROM passes
        GROUP BY ALL
    )
SELECT
    sums.recording, -- recording
    sums.pid, -- process
    sums.tid, -- training thread
    sums.passes, -- later passes that began with new workers
    CAST(sums.join_ns AS BIGINT) AS join_ns, -- [ns] in which the old workers were joined
    CAST(sums.fork_ns AS BIGINT) AS fork_ns, -- [ns] from what leads to the first fork to the first wait
    CAST(sums.first_ns AS BIGINT) AS first_ns, -- [ns] waits for the first batch of each worker in these passes
    CAST(sums.waits * usual.wait_ns AS BIGINT) AS usual_ns, -- [ns] as many usual waits
    CAST(sums.slower_ns AS BIGINT) AS slower_ns, -- [ns] that the first steps took longer, apart from waits
    CAST(greatest(sums.data_ns - sums.data_waits * usual.wait_ns, 0) AS BIGINT)
        AS data_ns, -- [ns] of steps of kind train in the phase DataLoading that the starts took
    CAST(sums.other_ns AS BIGINT) AS other_ns, -- [ns] of the starts in steps of other kinds
    CAST(sums.join_ns + sums.fork_ns + sums.first_ns + sums.slower_ns + sums.more_ns AS BIGINT)
        AS all_ns, -- [ns] that all of this took at most
    CAST(greatest(
        sums.join_ns + sums.fork_ns + sums.first_ns + sums.slower_ns
            - sums.waits * usual.wait_ns
            - sums.loading_ns / usual.waits,
        0
    ) AS BIGINT) AS start_ns -- [ns] that the starts took, beyond loading the first batch
FROM sums
JOIN usual ON usual.recording = sums.recording AND usual.pid = sums.pid AND usual.tid = sums.tid
ORDER BY sums.recording, sums.pid, sums.tid
