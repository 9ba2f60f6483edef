-- Times in which a training thread started DataLoader workers: from before the first fork to the next batch.
--
-- PyTorch forks in `iter(loader)`, before the first `__next__` of a pass. A fork is recorded when the process has been
-- copied, so what comes before the first one takes as long as from one fork to the next; it never reaches into an
-- earlier call. The first workers of a thread are left out: nothing was called before them.
--
-- needs: events, _threads, _rare_events
CREATE TABLE _crew_starts AS
WITH
    forks AS (
        SELECT DISTINCT events.recording, events.pid, events.tid, events.ts_ns
        FROM events
        JOIN _threads AS children
            ON children.recording = events.recording
            AND children.pid = events.child_pid
            AND children.tid = events.child_pid
            AND children.comm = 'pt_data_worker'
        WHERE events.kind = 'process' AND events.name = 'fork'
    ),
    calls AS (
        SELECT
            recording,
            pid,
            tid,
            ts_ns AS start_ns,
            ts_ns + dur_ns AS end_ns,
            name LIKE 'enumerate(DataLoader)#%' AS waits
        FROM _rare_events
        WHERE kind IN ('region', 'backward')
            AND dur_ns > 0
            AND (recording, pid) IN (SELECT (recording, pid) FROM forks)
    ),
    waits AS (
        SELECT recording, pid, tid, start_ns
        FROM calls
        WHERE waits
    ),
    crews AS (
        SELECT
            forks.recording,
            forks.pid,
            forks.tid,
            waits.start_ns AS end_ns,
            min(forks.ts_ns) AS forked_ns,
            count(*) AS forks,
            (max(forks.ts_ns) - min(forks.ts_ns)) // greatest(count(*) - 1, 1) AS each_ns
        FROM forks
        ASOF JOIN waits
            ON waits.recording = forks.recording
            AND waits.pid = forks.pid
            AND waits.tid = forks.tid
            AND waits.start_ns >= forks.ts_ns
        GROUP BY ALL
    )
SELECT
    crews.recording, -- recording
    crews.pid, -- process
    crews.tid, -- thread that forks and trains
    crews.forks, -- workers
    greatest(crews.forked_ns - crews.each_ns, calls.end_ns) AS start_ns, -- [ns] when it began to start them
    crews.end_ns, -- [ns] when it called the next `__next__`
    CASE WHEN crews.forks = 1 THEN crews.end_ns - calls.end_ns ELSE 0 END
        AS most_ns -- [ns] that it took at most, where one fork does not say how long one takes, else 0
FROM crews
ASOF JOIN calls
    ON calls.recording = crews.recording
    AND calls.pid = crews.pid
    AND calls.tid = crews.tid
    AND calls.end_ns <= crews.forked_ns
