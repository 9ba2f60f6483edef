-- Every wait for a batch: one row per DataLoader `__next__`, with the pass over the loader that it belongs to.
--
-- A new pass (epoch) begins where the process forked data workers since the wait before. Where no fork was seen
-- (num_workers=0, persistent workers) it is inferred: two waits with no backward or optimizer step between them are the
-- end of one pass and the begin of the next, and a run of more is a pass without training (evaluation).
--
-- needs: _intervals, _thread_numbers, workers
CREATE TABLE data_wait AS
WITH
    markers AS (
        SELECT
            thread,
            start_ns,
            end_ns,
            in_process,
            part = 'data_wait' AS waits,
            lag(part = 'data_wait', 1, FALSE) OVER thread_order AS waited,
            lag(part = 'data_wait', 2, FALSE) OVER thread_order AS waited_before,
            lead(part = 'data_wait', 1, FALSE) OVER thread_order AS waits_again,
            lag(CASE WHEN part = 'data_wait' THEN start_ns END IGNORE NULLS) OVER thread_order AS previous_ns
        FROM _intervals
        WHERE part IN ('data_wait', 'backward', 'optimizer_step')
        WINDOW thread_order AS (PARTITION BY thread ORDER BY start_ns)
    ),
    forks AS (
        SELECT recording, ppid AS pid, list(forked_ns) AS forked
        FROM workers
        WHERE forked_ns IS NOT NULL
        GROUP BY ALL
    ),
    begins AS (
        SELECT
            numbers.recording,
            numbers.pid,
            numbers.tid,
            markers.thread,
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
        JOIN _thread_numbers AS numbers ON numbers.thread = markers.thread
        LEFT JOIN forks ON forks.recording = numbers.recording AND forks.pid = numbers.pid
        WHERE markers.waits
    ),
    epochs AS (
        SELECT
            recording,
            pid,
            tid,
            thread,
            start_ns,
            end_ns,
            in_process,
            count(CASE WHEN begins THEN 1 END) OVER (
                PARTITION BY thread
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
    row_number() OVER (PARTITION BY thread, epoch ORDER BY start_ns) AS batch, -- wait in the pass, from 1
    start_ns, -- [ns] when the wait began
    end_ns - start_ns AS dur_ns, -- [ns] wall time inside __next__
    in_process -- whether the process loads its data itself (num_workers=0)
FROM epochs
ORDER BY thread, start_ns
