-- Time that threads were off their CPU, by reason.
--
-- Only spans of at least the recorder's threshold are recorded, so the sums are lower bounds. `runq_ns` is the part in
-- which the thread could have run and had no CPU.
--
-- needs: events
CREATE VIEW off_cpu AS
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    any_value(comm) AS comm, -- its name
    state, -- sleeping, blocked, io, preempted, stopped or started
    count(*) AS spans, -- times
    CAST(coalesce(sum(dur_ns), 0) AS BIGINT) AS sum_ns, -- [ns] off its CPU
    CAST(coalesce(sum(runq_ns), 0) AS BIGINT) AS runq_ns, -- [ns] of it, ready to run
    max(dur_ns) AS max_ns -- [ns] longest
FROM events
WHERE kind = 'sched'
GROUP BY recording, pid, tid, state
ORDER BY recording, pid, sum_ns DESC, tid, state
