-- Calls of which the user said what they are to a step.
--
-- Functions have a role by `--probe 'libfoo.so:next_batch(role=data_wait)'`. A region says it by
-- its name: `zernel.data_wait`, from PyTorch's `record_function` or from a Python program itself; steps of a profiler's
-- trace have the role of one. Of probed functions only calls with a role are read.
--
-- needs: events, _rare_events
CREATE TABLE _role_calls AS
SELECT recording, pid, tid, role, name, ts_ns AS start_ns, ts_ns + dur_ns AS end_ns
FROM events
WHERE (kind IN ('call', 'py_call')) IS TRUE AND role IS NOT NULL
UNION ALL
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    role, -- step, data_wait, compute, sync, collective, optimizer or checkpoint
    step_name(name) AS name, -- function, or region without its number
    ts_ns AS start_ns, -- [ns] when it began
    ts_ns + dur_ns AS end_ns -- [ns] when it returned; NULL for a moment, or where that was not seen
FROM _rare_events
WHERE kind = 'region' AND role IS NOT NULL
