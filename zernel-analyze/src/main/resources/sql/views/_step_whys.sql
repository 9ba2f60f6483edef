-- What other findings count and single steps have more of than usual: one row per step and reason.
--
-- These are garbage collections, waits for another thread of the process, and time without a CPU.
--
-- needs: gc_runs, step_states
CREATE VIEW _step_whys AS
WITH
    constants AS (
        SELECT 0.03 AS counted -- share of step time from which on findings count waits for threads and for CPUs
    ),
    waits AS (
        SELECT
            recording,
            pid,
            tid,
            step,
            thread_ns - median(thread_ns) OVER thread AS thread_ns,
            runnable_ns - median(runnable_ns) OVER thread AS runnable_ns,
            sum(thread_ns) OVER thread / sum(dur_ns) OVER thread AS thread_share,
            sum(runnable_ns) OVER thread / sum(dur_ns) OVER thread AS runnable_share
        FROM step_states
        WHERE step_kind = 'train'
        WINDOW thread AS (PARTITION BY recording, pid, tid)
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    step, -- number of the step
    'pause' AS reason, -- pause, another thread or no CPU
    CAST(sum(dur_ns) AS BIGINT) AS dur_ns -- [ns] how long, beyond the usual
FROM gc_runs
GROUP BY ALL
UNION ALL
SELECT waits.recording, waits.pid, waits.tid, waits.step, 'another thread', CAST(waits.thread_ns AS BIGINT)
FROM waits
CROSS JOIN constants
WHERE waits.thread_ns > 0 AND waits.thread_share >= constants.counted
UNION ALL
SELECT waits.recording, waits.pid, waits.tid, waits.step, 'no CPU', CAST(waits.runnable_ns AS BIGINT)
FROM waits
CROSS JOIN constants
WHERE waits.runnable_ns > 0 AND waits.runnable_share >= constants.counted
