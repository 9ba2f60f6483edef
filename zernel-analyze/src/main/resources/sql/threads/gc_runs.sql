-- Runs of Python's garbage collector in training threads, within steps.
--
-- A run stops the thread in which it happens, wherever that is: in the forward pass, while it waits for data, between
-- calls. Time in which another thread had its CPU is taken off. Only runs from 100 us on are recorded, of most
-- interpreters only those over all objects. Warm-up is left out.
--
-- needs: events, steps, _switches
CREATE TABLE gc_runs AS
WITH
    runs AS (
        SELECT
            runs.recording,
            runs.pid,
            runs.tid,
            steps.step,
            runs.ts_ns AS start_ns,
            least(runs.ts_ns + runs.dur_ns, steps.end_ns) AS end_ns,
            runs.generation,
            CASE WHEN runs.name <> 'collection' THEN runs.name = 'gc.collect' END AS asked,
            runs.count AS objects
        FROM events AS runs
        JOIN steps
            ON steps.recording = runs.recording
            AND steps.pid = runs.pid
            AND steps.tid = runs.tid
            AND runs.ts_ns >= steps.start_ns
            AND runs.ts_ns < steps.end_ns
        WHERE runs.kind = 'gc' AND runs.dur_ns > 0 AND steps.step_kind <> 'warmup'
    ),
    preempted AS (
        SELECT
            runs.recording,
            runs.tid,
            runs.start_ns,
            sum(least(switches.ts_ns + switches.dur_ns, runs.end_ns) - switches.ts_ns) AS dur_ns
        FROM runs
        JOIN _switches AS switches
            ON switches.recording = runs.recording
            AND switches.tid = runs.tid
            AND switches.ts_ns >= runs.start_ns
            AND switches.ts_ns < runs.end_ns
        WHERE switches.preempted AND switches.dur_ns > 0
        GROUP BY ALL
    )
SELECT
    runs.recording, -- recording
    runs.pid, -- process
    runs.tid, -- training thread
    runs.step, -- number of the step
    runs.start_ns, -- [ns] when it began
    CAST(runs.end_ns - runs.start_ns - coalesce(preempted.dur_ns, 0) AS BIGINT)
        AS dur_ns, -- [ns] how long it ran, within the step
    runs.generation, -- oldest generation that was looked through, 2 is all; NULL where that is not known
    runs.asked, -- whether the program called gc.collect(); NULL where that is not known
    runs.objects -- objects that were found to be garbage; NULL where that is not known
FROM runs
LEFT JOIN preempted
    ON preempted.recording = runs.recording
    AND preempted.tid = runs.tid
    AND preempted.start_ns = runs.start_ns
ORDER BY runs.recording, runs.pid, runs.tid, runs.start_ns
