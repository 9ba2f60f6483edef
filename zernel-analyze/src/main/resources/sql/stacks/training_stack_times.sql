-- Time by stack as in `stack_times`, within training steps: start-up, evaluations and checkpoints are left out.
--
-- Steps are those of kind train, for other processes those of the one that trains most. Of a recording without stacks
-- in such steps it is all of the time.
--
-- needs: stack_times
CREATE VIEW training_stack_times AS
WITH
    told AS (
        SELECT *, bool_or(steady_ns > 0) OVER (PARTITION BY recording) AS trained
        FROM stack_times
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- thread
    role, -- of the process: training, inference, data worker or other
    trains, -- whether it is a training thread
    kind, -- kind of event: sample, or that of the call that blocked
    name, -- function or system call; on-cpu for samples
    state, -- on-cpu, gpu, collective, gc, or what was waited for, as in off_cpu_spans
    idle, -- whether the thread waits for work, where another one trains
    id, -- number of the stack, as in stack_lines and stacks
    CASE WHEN trained THEN steady_calls ELSE calls END AS calls, -- calls, or samples
    CASE WHEN trained THEN steady_ns ELSE total_ns END AS total_ns, -- [ns] time in them
    trained AS in_steps -- whether that is of training steps only
FROM told
WHERE NOT trained OR steady_ns > 0
ORDER BY total_ns DESC, recording, pid, tid, kind, name, state, id
