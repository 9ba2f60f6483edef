-- Median steps of training threads that launch nothing: in calls, between them, and in backward passes.
--
-- needs: step_states, steps, _pieces, _thread_numbers, _launched, kinds
-- digest: kept
CREATE TABLE _between_calls AS
WITH
    threads AS (
        SELECT states.recording, states.pid, states.tid, count(*) AS steps
        FROM step_states AS states
        JOIN kinds ON kinds.recording = states.recording AND kinds.kind = 'sched' AND kinds.state = 'attached'
        WHERE states.step_kind = 'train'
            AND (states.recording, states.pid) NOT IN (SELECT recording, pid FROM _launched)
        GROUP BY states.recording, states.pid, states.tid
    ),
    -- Where the forward pass was told apart, nothing of it is in no call.
    passes AS (
        SELECT
            threads.recording,
            threads.pid,
            threads.tid,
            bool_or(pieces.part = 'forward') AS forward_apart,
            CASE
                WHEN forward_apart THEN 0
                ELSE sum(CASE WHEN pieces.part = 'backward' THEN pieces.end_ns - pieces.start_ns ELSE 0 END)
            END AS backward_ns
        FROM threads
        JOIN _thread_numbers AS numbers USING (recording, pid, tid)
        JOIN _pieces AS pieces ON pieces.thread = numbers.thread
        ASOF JOIN steps
            ON steps.recording = threads.recording
            AND steps.pid = threads.pid
            AND steps.tid = threads.tid
            AND steps.start_ns <= pieces.start_ns
        WHERE pieces.start_ns < steps.end_ns AND steps.step_kind = 'train'
        GROUP BY ALL
    )
SELECT
    states.recording, -- recording
    states.pid, -- process
    states.tid, -- training thread
    any_value(threads.steps) AS steps, -- steps of kind train
    median(states.dur_ns) AS step_ns, -- [ns] median of them
    median(states.between_ns) AS between_ns, -- [ns] of it, on the CPU in no recorded call
    median(states.called_ns) AS called_ns, -- [ns] of it, on the CPU in calls
    any_value(passes.backward_ns) / any_value(threads.steps)
        AS backward_ns, -- [ns] of a mean one in backward passes; 0 where forward passes were told apart
    any_value(passes.forward_apart) AS forward_apart -- whether they were, so that nothing of them is in no call
FROM step_states AS states
JOIN threads
    ON threads.recording = states.recording
    AND threads.pid = states.pid
    AND threads.tid = states.tid
JOIN passes ON passes.recording = states.recording AND passes.pid = states.pid AND passes.tid = states.tid
WHERE states.step_kind = 'train'
GROUP BY states.recording, states.pid, states.tid
