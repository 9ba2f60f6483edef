-- Passes over a loader that began with new workers, summed per training thread. First passes are left out.
--
-- Such a start takes from when the old workers are joined, at the end of the pass before, over the forks to the first
-- batch of each new worker: they take turns, and one that comes up later than the first is waited for again. The first
-- steps of the pass are slower too: pages are copied that the forks left shared, while the new workers import. That is
-- the first step, and those after it whose median over the passes is still slower; at most, those whose mean is.
-- Workers that stay would have to load a batch too, so the mean time of loading one is taken off. What else the thread
-- does between two passes is not counted.
--
-- Old workers are joined in the last `__next__` of a pass, or when its iterator is deleted (see `_worker_ends`).
--
-- needs: data_wait, workers, worker_crews, steps, _crew_starts, _worker_ends, events
-- digest: kept
CREATE TABLE worker_starts AS
WITH
    constants AS (
        SELECT
            0.25 AS slower_share, -- of the usual work of a step, by which a later step of a pass is slower
            3 AS min_passes -- that have such a step, to tell so
    ),
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
    -- Calls are a turn's from the wait before it on, and those while it forks are no part of that.
    deleted AS (
        SELECT
            turns.recording,
            turns.pid,
            turns.tid,
            turns.start_ns,
            sum(endings.dur_ns) AS dur_ns,
            coalesce(sum(endings.dur_ns) FILTER (endings.start_ns >= starts.start_ns), 0) AS forking_ns
        FROM _worker_ends AS endings
        ASOF JOIN turns
            ON turns.recording = endings.recording
            AND turns.pid = endings.pid
            AND turns.tid = endings.tid
            AND turns.start_ns >= endings.start_ns
        LEFT JOIN _crew_starts AS starts
            ON starts.recording = turns.recording
            AND starts.pid = turns.pid
            AND starts.tid = turns.tid
            AND starts.end_ns = turns.start_ns
        GROUP BY ALL
    ),
    -- When the pass before was asked last, and when its workers ended.
    lasts AS (
        SELECT recording, pid, tid, epoch, max(start_ns + dur_ns) AS until_ns
        FROM data_wait
        GROUP BY ALL
    ),
    ended AS (
        SELECT
            turns.recording,
            turns.pid,
            turns.tid,
            turns.epoch,
            max(exits.ts_ns) <= any_value(lasts.until_ns) AS in_next
        FROM exits
        ASOF JOIN turns
            ON turns.recording = exits.recording
            AND turns.pid = exits.pid
            AND turns.start_ns >= exits.ts_ns
        JOIN lasts
            ON lasts.recording = turns.recording
            AND lasts.pid = turns.pid
            AND lasts.tid = turns.tid
            AND lasts.epoch = turns.epoch - 1
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
            steps.start_ns AS step_start_ns,
            turns.start_ns AS turn_ns,
            works.work_ns,
            coalesce(joins.dur_ns, 0) + coalesce(deleted.dur_ns, 0) AS join_ns,
            coalesce(ended.in_next, FALSE) AS ended_in_next,
            coalesce(starts.end_ns - starts.start_ns, turns.start_ns - turns.forked_ns)
                - coalesce(deleted.forking_ns, 0) AS fork_ns,
            coalesce(starts.most_ns, 0) AS most_ns,
            steps.step_kind = 'train' AND turns.start_ns < steps.end_ns AS trains, -- not in a gap, nor after the last
            CASE
                WHEN trains AND steps.batches <= 2
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
        LEFT JOIN deleted
            ON deleted.recording = turns.recording
            AND deleted.pid = turns.pid
            AND deleted.tid = turns.tid
            AND deleted.start_ns = turns.start_ns
        LEFT JOIN ended
            ON ended.recording = turns.recording
            AND ended.pid = turns.pid
            AND ended.tid = turns.tid
            AND ended.epoch = turns.epoch
        LEFT JOIN _crew_starts AS starts
            ON starts.recording = turns.recording
            AND starts.pid = turns.pid
            AND starts.tid = turns.tid
            AND starts.end_ns = turns.start_ns
    ),
    later AS (
        SELECT
            steps.recording,
            steps.pid,
            steps.tid,
            row_number() OVER (
                PARTITION BY steps.recording, steps.pid, steps.tid, passes.turn_ns
                ORDER BY steps.start_ns
            ) + 1 AS number,
            passes.work_ns,
            steps.dur_ns - steps.data_loading_ns - steps.unknown_ns - passes.work_ns AS slower_ns
        FROM steps
        ASOF JOIN passes
            ON passes.recording = steps.recording
            AND passes.pid = steps.pid
            AND passes.tid = steps.tid
            AND passes.turn_ns <= steps.start_ns
        ANTI JOIN passes AS firsts
            ON firsts.recording = steps.recording
            AND firsts.pid = steps.pid
            AND firsts.tid = steps.tid
            AND firsts.step_start_ns = steps.start_ns
        WHERE steps.step_kind = 'train'
    ),
    -- Steps of all passes by their number, and whether these and all before are slower than usual.
    numbered AS (
        SELECT
            recording,
            pid,
            tid,
            number,
            sum(slower_ns) AS slower_ns,
            bool_and(median(slower_ns) >= any_value(slower_share * work_ns) AND count(*) >= any_value(min_passes))
                OVER so_far AS slower,
            bool_and(avg(slower_ns) >= any_value(slower_share * work_ns) AND count(*) >= any_value(min_passes))
                OVER so_far AS slower_at_most
        FROM later
        CROSS JOIN constants
        GROUP BY recording, pid, tid, number
        WINDOW so_far AS (PARTITION BY recording, pid, tid ORDER BY number ROWS UNBOUNDED PRECEDING)
    ),
    slower AS (
        SELECT
            recording,
            pid,
            tid,
            coalesce(max(CASE WHEN slower THEN number END), 1) AS steps,
            sum(CASE WHEN slower THEN slower_ns ELSE 0 END) AS slower_ns,
            sum(CASE WHEN slower_at_most AND NOT slower THEN slower_ns ELSE 0 END) AS more_ns
        FROM numbered
        GROUP BY recording, pid, tid
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
            greatest(sum(passes.slower_ns) + coalesce(any_value(slower.slower_ns), 0), 0) AS slower_ns,
            coalesce(any_value(slower.steps), 1) AS slower_steps,
            sum(greatest(fork_ns, most_ns)) - sum(fork_ns) + coalesce(any_value(slower.more_ns), 0) AS more_ns,
            count(CASE WHEN ended_in_next THEN 1 END) AS ended_in_next,
            sum(CASE WHEN trains THEN join_ns + fork_ns + wait_ns ELSE 0 END) AS data_ns,
            sum(CASE WHEN trains THEN waits ELSE 0 END) AS data_waits,
            sum(CASE WHEN trains THEN 0 ELSE join_ns + fork_ns + wait_ns END) AS other_ns
        FROM passes
        LEFT JOIN slower USING (recording, pid, tid)
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
    sums.slower_steps, -- how many steps of each pass these are
    sums.ended_in_next, -- passes before which the old ones ended in a last `__next__`: they were not persistent
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
