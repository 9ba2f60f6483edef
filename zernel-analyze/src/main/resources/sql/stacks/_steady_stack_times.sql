-- Time by stack as in `stack_times`, but only within steps of kind train.
--
-- needs: stack_events, _step_owners, _step_spans
CREATE TABLE _steady_stack_times AS
WITH
    taken AS (
        SELECT
            events.recording,
            owners.owner AS pid,
            events.pid AS of_pid,
            events.tid AS of_tid,
            events.middle_ns AS at_ns,
            events.kind,
            events.name,
            events.state,
            events.id,
            events.ns
        FROM stack_events AS events
        JOIN _step_owners AS owners ON owners.recording = events.recording AND owners.pid = events.pid
        WHERE events.ns > 0
    )
SELECT
    recording, -- recording
    of_pid AS pid, -- process
    of_tid AS tid, -- thread
    kind, -- kind of event
    name, -- function or system call
    state, -- on-cpu, gpu, collective, gc, or what was waited for
    id, -- number of the stack
    CAST(sum(ns) AS BIGINT) AS total_ns -- [ns] time in it
FROM in_spans(taken, _step_spans)
WHERE steady
GROUP BY ALL
