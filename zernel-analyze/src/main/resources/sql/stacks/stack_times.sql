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
    count(*) AS calls, -- calls, or samples
    CAST(sum(ns) AS BIGINT) AS total_ns -- [ns] time in it
FROM in_spans(taken, _step_spans)
WHERE steady
GROUP BY ALL;

-- Time by stack: how long each thread was in each stack, and in which state.
--
-- Time blocked is that of calls from the recorder's threshold on, time on a CPU that of samples: a thread that was
-- sampled n times had a CPU for about n times `period_ns`. A thread that does not train is idle where it waits for
-- work: a data worker's main thread at a pipe or a lock, another thread in any wait but for the GPU, ranks and storage.
-- Where nothing trains, it is in these waits where none of the user's own code is on the stack, if it is on any.
--
-- needs: stack_events, stack_lines, processes, _thread_numbers, _steady_stack_times
CREATE VIEW stack_times AS
WITH
    sums AS (
        SELECT
            recording,
            pid,
            tid,
            kind,
            name,
            state,
            id,
            count(*) AS calls,
            CAST(sum(ns) AS BIGINT) AS total_ns
        FROM stack_events
        WHERE ns > 0
        GROUP BY ALL
    ),
    programs AS (
        SELECT DISTINCT sums.recording
        FROM sums
        JOIN stack_lines AS lines ON lines.id = sums.id
        WHERE lines.own
    )
SELECT
    sums.recording, -- recording
    sums.pid, -- process
    sums.tid, -- thread
    coalesce(processes.role, 'other') AS role, -- of the process: training, inference, data worker or other
    own.thread IS NOT NULL AS trains, -- whether it is a training thread
    sums.kind, -- kind of event: sample, or that of the call that blocked
    sums.name, -- function or system call; on-cpu for samples
    sums.state, -- on-cpu, gpu, collective, gc, or what was waited for, as in off_cpu_spans
    CASE
        WHEN own.thread IS NOT NULL THEN FALSE
        WHEN sums.recording NOT IN (SELECT recording FROM _thread_numbers)
            THEN NOT lines.own
                AND sums.recording IN (SELECT recording FROM programs)
                AND sums.state NOT IN ('on-cpu', 'gc', 'gpu', 'collective', 'storage')
        WHEN processes.role = 'data worker' AND sums.tid = sums.pid THEN sums.state IN ('pipe', 'thread')
        ELSE sums.state NOT IN ('on-cpu', 'gc', 'gpu', 'collective', 'storage')
    END AS idle, -- whether the thread waits for work
    sums.id, -- number of the stack, as in stack_lines and stacks
    sums.calls, -- calls, or samples
    sums.total_ns, -- [ns] time in them
    coalesce(steady.calls, 0) AS steady_calls, -- calls, or samples, within steps of kind train
    coalesce(steady.total_ns, 0) AS steady_ns -- [ns] time in these
FROM sums
JOIN stack_lines AS lines ON lines.id = sums.id
LEFT JOIN processes ON processes.recording = sums.recording AND processes.pid = sums.pid
LEFT JOIN _thread_numbers AS own ON own.recording = sums.recording AND own.pid = sums.pid AND own.tid = sums.tid
LEFT JOIN _steady_stack_times AS steady
    ON steady.recording = sums.recording
    AND steady.pid = sums.pid
    AND steady.tid = sums.tid
    AND steady.kind = sums.kind
    AND steady.name IS NOT DISTINCT FROM sums.name
    AND steady.state = sums.state
    AND steady.id = sums.id
ORDER BY sums.total_ns DESC, sums.recording, sums.pid, sums.tid, sums.kind, sums.name, sums.state, sums.id
