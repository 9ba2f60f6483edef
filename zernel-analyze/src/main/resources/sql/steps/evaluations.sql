-- What evaluation between training steps takes: one row for each training thread that evaluates.
--
-- Evaluation is a pass over a DataLoader in which nothing is trained. It is no part of the mean training step. Passes
-- that skip batches are none.
--
-- needs: _evaluations, training_threads, steps
CREATE VIEW evaluations AS
WITH
    trained AS (
        SELECT recording, pid, tid, count(*) AS steps
        FROM steps
        WHERE step_kind <> 'warmup'
        GROUP BY ALL
    ),
    sums AS (
        SELECT recording, pid, tid, count(*) AS evaluations, sum(end_ns - start_ns) AS total_ns
        FROM _evaluations
        WHERE NOT skips
        GROUP BY ALL
    )
SELECT
    sums.recording, -- recording
    sums.pid, -- process
    sums.tid, -- training thread
    sums.evaluations, -- evaluation loops
    CAST(sums.total_ns AS BIGINT) AS total_ns, -- [ns] wall time of all
    CAST(sums.total_ns / sums.evaluations AS BIGINT) AS mean_ns, -- [ns] of one
    sums.total_ns / threads.wall_ns AS share, -- share of the thread's wall time, 0 to 1
    coalesce(trained.steps, 0) AS steps, -- training steps, without warm-up
    threads.steady_ns / nullif(threads.steady_steps, 0) AS step_ns -- [ns] mean training step, without evaluation
FROM sums
JOIN training_threads AS threads
    ON threads.recording = sums.recording
    AND threads.pid = sums.pid
    AND threads.tid = sums.tid
LEFT JOIN trained ON trained.recording = sums.recording AND trained.pid = sums.pid AND trained.tid = sums.tid
ORDER BY sums.recording, sums.pid, sums.tid
