-- Every wait for a batch: one row per DataLoader `__next__`, with the pass over the loader that it belongs to.
--
-- A new pass (epoch) begins where the process forked data workers since the wait before. Where no fork was seen
-- (num_workers=0, persistent workers) it is inferred: two waits with no backward or optimizer step between them are the
-- end of one pass and the begin of the next, and a run of more is a pass without training (evaluation).
--
-- needs: _intervals, workers
CREATE TABLE data_wait AS
WITH
    markers AS (
        SELECT
            recording,
            pid,
            tid,
            start_ns,
            end_ns,
            loader AS name,
            part,
            count(CASE WHEN part <> 'data_wait' THEN 1 END) OVER (
                PARTITION BY recording, pid, tid
                ORDER BY start_ns
                ROWS UNBOUNDED PRECEDING
            ) AS run
        FROM _intervals
        WHERE part IN ('data_wait', 'backward', 'optimizer_step')
    ),
    waits AS (
        SELECT
            recording,
            pid,
            tid,
            start_ns,
            end_ns,
            name,
            row_number() OVER run_order AS place,
            count(*) OVER (PARTITION BY recording, pid, tid, run) AS run_length,
            lag(start_ns, 1, 0) OVER (PARTITION BY recording, pid, tid ORDER BY start_ns) AS previous_ns
        FROM markers
        WHERE part = 'data_wait'
        WINDOW run_order AS (PARTITION BY recording, pid, tid, run ORDER BY start_ns)
    ),
    forks AS (
        SELECT recording, ppid AS pid, max(forked_ns) AS last_fork_ns, list(forked_ns) AS forked
        FROM workers
        WHERE forked_ns IS NOT NULL
        GROUP BY ALL
    ),
    begins AS (
        SELECT
            waits.recording,
            waits.pid,
            waits.tid,
            waits.start_ns,
            waits.end_ns,
            waits.name,
            CASE
                WHEN waits.previous_ns = 0 THEN TRUE
                WHEN forks.pid IS NOT NULL
                    THEN len(list_filter(
                        forks.forked,
                        lambda t: t > waits.previous_ns AND t <= waits.start_ns
                    )) > 0
                ELSE waits.run_length > 1
                    AND (waits.place = waits.run_length OR (waits.run_length > 2 AND waits.place = 2))
            END AS begins
        FROM waits
        LEFT JOIN forks ON forks.recording = waits.recording AND forks.pid = waits.pid
    ),
    epochs AS (
        SELECT
            recording,
            pid,
            tid,
            start_ns,
            end_ns,
            name,
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
    name -- the region: tells single-process from multi-process loading
FROM epochs
ORDER BY recording, pid, tid, start_ns
