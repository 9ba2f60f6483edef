-- The wall time of each training thread in segments that neither overlap nor leave a hole, each with its phase.
--
-- These are `_pieces`, and for threads without regions what `phase_rules` make of the time in no call.
--
-- needs: _pieces, _phase_guesses, _thread_numbers
CREATE VIEW _segments AS
SELECT
    threads.recording, -- recording
    threads.pid, -- process
    threads.tid, -- training thread
    threads.thread, -- number of the thread
    pieces.start_ns, -- [ns] begin of the segment
    pieces.end_ns, -- [ns] end of the segment
    pieces.end_ns - pieces.start_ns AS dur_ns, -- [ns] wall time
    pieces.part, -- one of `step_part`, such as data_wait or forward
    CASE
        WHEN pieces.part = 'unknown' THEN coalesce(guesses.phase, 'Unknown')
        WHEN pieces.part IN ('data_wait', 'worker_start') THEN 'DataLoading'
        WHEN pieces.part = 'collective' THEN 'NcclCollective'
        WHEN pieces.part IN ('optimizer_step', 'zero_grad') THEN 'OptimizerStep'
        ELSE 'GpuCompute'
    END AS phase, -- the phase that the part belongs to
    pieces.inferred OR guesses.phase IS NOT NULL AS inferred, -- whether it follows from other events, not from a call
    CASE
        WHEN guesses.phase IS NOT NULL THEN 'rule: ' || guesses.rule
        WHEN pieces.part = 'unknown' THEN 'no call'
        WHEN pieces.inferred THEN 'neighbours'
        ELSE 'calls'
    END AS source -- what says so: calls, neighbours, a rule, or no call
FROM _pieces AS pieces
JOIN _thread_numbers AS threads ON threads.thread = pieces.thread
LEFT JOIN _phase_guesses AS guesses ON guesses.thread = pieces.thread AND guesses.start_ns = pieces.start_ns
