-- Training threads that were ready to run and had no CPU.
--
-- The time is lost to other processes on the same CPUs, or to a CPU limit of the container. Counted is the time between
-- the thread's first recorded call and its last.
--
-- needs: events, training_threads
CREATE TABLE preemption AS
WITH
    spans AS (
        SELECT recording, pid, tid, ts_ns, dur_ns, runq_ns, state, cpu
        FROM events
        WHERE kind = 'sched' AND runq_ns > 0
    )
SELECT
    spans.recording, -- recording
    spans.pid, -- process
    spans.tid, -- training thread
    count(*) AS spans, -- times that it waited for a CPU
    count(CASE WHEN spans.state = 'preempted' THEN 1 END) AS preempted, -- times that another thread took its CPU
    CAST(sum(spans.runq_ns) AS BIGINT) AS runq_ns, -- [ns] ready to run, without a CPU
    max(spans.runq_ns) AS max_ns, -- [ns] longest of them
    sum(spans.runq_ns) / any_value(threads.wall_ns) AS share, -- share of the thread's wall time, 0 to 1
    sum(spans.runq_ns) / nullif(any_value(threads.steps), 0) AS per_step_ns -- [ns] per step
FROM spans
JOIN training_threads AS threads
    ON threads.recording = spans.recording
    AND threads.pid = spans.pid
    AND threads.tid = spans.tid
WHERE spans.ts_ns >= threads.first_ns AND spans.ts_ns < threads.last_ns
GROUP BY spans.recording, spans.pid, spans.tid
ORDER BY spans.recording, spans.pid, spans.tid
