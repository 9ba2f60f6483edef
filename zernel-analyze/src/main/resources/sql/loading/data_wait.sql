-- Every wait for a batch: one row per DataLoader `__next__`, with the pass over the loader that it belongs to.
--
-- A new pass (epoch) begins where the process forked data workers since the wait before. Where no fork was seen
-- (num_workers=0, persistent workers) it is inferred: two waits with no backward or optimizer step between them are the
-- end of one pass and the begin of the next, and a run of more is a pass without training (evaluation).
--
-- needs: _intervals, _thread_numbers, _rare_events, workers
CREATE TABLE data_wait AS
WITH
    calls AS (
        SELECT
            numbers.recording,
            numbers.pid,
            numbers.tid,
            intervals.start_ns,
            intervals.end_ns,
            intervals.in_process,
            intervals.part = 'data_wait' AS waits
        FROM _intervals AS intervals
        JOIN _thread_numbers AS numbers ON numbers.thread = intervals.thread
        WHERE intervals.part IN ('data_wait', 'backward', 'optimizer_step')
        UNION ALL
        -- Of threads that fetch ahead for one that trains.
        SELECT
            fetching.recording,
            fetching.pid,
            fetching.tid,
            fetching.ts_ns,
            fetching.ts_ns + fetching.dur_ns,
            fetching.name LIKE '%SingleProcess%',
            TRUE
        FROM _rare_events AS fetching
        ANTI JOIN _thread_numbers AS numbers
            ON numbers.recording = fetching.recording
            AND numbers.pid = fetching.pid
            AND numbers.tid = fetching.tid
        WHERE fetching.kind = 'region' AND fetching.name LIKE 'enumerate(DataLoader)#%' AND fetching.dur_ns > 0
    ),
    markers AS (
        SELECT
            recording,
            pid,
            tid,
            start_ns,
            end_ns,
            in_process,
            waits,
            lag(waits, 1, FALSE) OVER thread_order AS waited,
            lag(waits, 2, FALSE) OVER thread_order AS waited_before,
            lead(waits, 1, FALSE) OVER thread_order AS waits_again,
            lag(CASE WHEN waits THEN start_ns END IGNORE NULLS) OVER thread_order AS previous_ns
        FROM calls
        WINDOW thread_order AS (PARTITION BY recording, pid, tid ORDER BY start_ns)
    ),
    forks AS (
        SELECT recording, ppid AS pid, list(forked_ns) AS forked
        FROM workers
        WHERE forked_ns IS NOT NULL
        GROUP BY ALL
    ),
    begins AS (
        SELECT
            markers.recording,
            markers.pid,
            markers.tid,
            markers.start_ns,
            markers.end_ns,
            markers.in_process,
            CASE
                WHEN markers.previous_ns IS NULL THEN TRUE
                WHEN forks.pid IS NOT NULL
                    THEN len(list_filter(
                        forks.forked,
                        lambda t: t > markers.previous_ns AND t <= markers.start_ns
                    )) > 0
                -- The last of several waits in a row, and of three or more the second.
                ELSE markers.waited AND NOT (markers.waited_before AND markers.waits_again)
            END AS begins
        FROM markers
        LEFT JOIN forks ON forks.recording = markers.recording AND forks.pid = markers.pid
        WHERE markers.waits
    ),
    epochs AS (
        SELECT
            recording,
            pid,
            tid,
            start_ns,
            end_ns,
            in_process,
            count(CASE WHEN begins THEN 1 END) OVER (
                PARTITION BY recording, pid, tid
                ORDER BY start_ns
                ROWS UNBOUNDED PRECEDING
            ) AS epoch
        FROM begins
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread that waits
    epoch, -- pass over a loader, from 1
    row_number() OVER (PARTITION BY recording, pid, tid, epoch ORDER BY start_ns) AS batch, -- wait in the pass, from 1
    start_ns, -- [ns] when the wait began
    end_ns - start_ns AS dur_ns, -- [ns] wall time inside __next__
    in_process -- whether the process loads its data itself (num_workers=0)
FROM epochs
ORDER BY recording, pid, tid, start_ns
