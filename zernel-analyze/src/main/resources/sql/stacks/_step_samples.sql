-- Samples of training threads on a CPU in steps of training, each with the part of the step that it is in.
--
-- needs: stack_events, _thread_numbers, steps, _pieces
CREATE TABLE _step_samples AS
WITH
    samples AS (
        SELECT
            events.recording,
            events.pid,
            events.tid,
            numbers.thread,
            events.middle_ns,
            events.ns,
            events.id
        FROM stack_events AS events
        JOIN _thread_numbers AS numbers
            ON numbers.recording = events.recording
            AND numbers.pid = events.pid
            AND numbers.tid = events.tid
        WHERE events.kind = 'sample' AND events.ns > 0
    ),
    trained AS (
        SELECT samples.*
        FROM samples
        ASOF JOIN steps
            ON steps.recording = samples.recording
            AND steps.pid = samples.pid
            AND steps.tid = samples.tid
            AND steps.start_ns <= samples.middle_ns
        WHERE samples.middle_ns < steps.end_ns AND steps.step_kind = 'train'
    )
SELECT
    trained.recording, -- recording
    trained.pid, -- process
    trained.tid, -- training thread
    trained.id, -- number of the stack
    trained.middle_ns, -- [ns] middle of that time
    trained.ns, -- [ns] time that it stands for
    pieces.part -- part of the step: forward, backward, ..., or unknown
FROM trained
ASOF JOIN _pieces AS pieces
    ON pieces.thread = trained.thread
    AND pieces.start_ns <= trained.middle_ns
WHERE trained.middle_ns < pieces.end_ns
