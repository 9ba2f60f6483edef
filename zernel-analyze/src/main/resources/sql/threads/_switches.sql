-- Spans in which threads were off their CPU.
--
-- needs: events
CREATE TABLE _switches AS
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    cpu, -- the CPU that it left
    ts_ns, -- [ns] when it left it
    dur_ns, -- [ns] off its CPU, NULL when it was not seen to run again
    runq_ns, -- [ns] of it, at the end: ready to run, without a CPU
    other_pid, -- process that had the CPU for which it waited; NULL when nobody had, or in earlier recordings
    other_comm, -- its thread's name
    coalesce(state = 'preempted', FALSE) AS preempted -- whether another thread took its CPU
FROM events
WHERE kind = 'sched'
