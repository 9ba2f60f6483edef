-- Time by stack: how long each thread was in each stack, and in which state.
--
-- Time blocked is that of calls from the recorder's threshold on, time on a CPU that of samples: a thread that was
-- sampled n times had a CPU for about n times `period_ns`.
--
-- needs: stack_events, processes
CREATE VIEW stack_times AS
SELECT
    events.recording, -- recording
    events.pid, -- process
    events.tid, -- thread
    coalesce(any_value(processes.role), 'other') AS role, -- of the process: training, inference, data worker or other
    events.kind, -- kind of event: sample, or that of the call that blocked
    events.state, -- on-cpu, gpu, collective, gc, or what was waited for, as in off_cpu_spans
    events.id, -- number of the stack, as in stack_lines and stacks
    count(*) AS calls, -- calls, or samples
    CAST(sum(events.ns) AS BIGINT) AS total_ns -- [ns] time in them
FROM stack_events AS events
LEFT JOIN processes ON processes.recording = events.recording AND processes.pid = events.pid
WHERE events.ns > 0
GROUP BY events.recording, events.pid, events.tid, events.kind, events.state, events.id
ORDER BY total_ns DESC, events.recording, events.pid, events.tid, events.kind, events.state, events.id
