-- Samples of training threads in steps of training, and how many of them are in what anomaly detection does.
--
-- It formats the stack of each operator that has a gradient, and looks for NaN in each gradient: whether any number is
-- not itself.
--
-- needs: _step_samples, _traceback_stacks, _stack_frames, _operator_frames
-- digest: kept
CREATE TABLE _anomaly_samples AS
SELECT
    samples.recording, -- recording
    samples.pid, -- process
    samples.tid, -- training thread
    count(*) AS samples, -- samples
    count(formats.id) AS formats, -- of them, those in which the stack of an operator is formatted
    count(CASE WHEN samples.part = 'unknown' THEN formats.id END) AS in_no_call, -- of those, those in no recorded call
    count_if(samples.part = 'backward' AND regexp_matches(frames.function, '\b(ne|or)_kernel'))
        AS checks, -- of all, those in operators of the backward pass that look for NaN
    count_if(samples.part = 'backward' AND (operators.is_around OR operators.is_unnamed OR _is_openmp(frames.file)))
        AS around, -- of all, those in the backward pass that may be of these: around operators, waiting, without a name
    sum(samples.ns) AS cpu_ns -- [ns] on a CPU
FROM _step_samples AS samples
LEFT JOIN _traceback_stacks AS formats ON formats.id = samples.id
LEFT JOIN _stack_frames AS frames ON frames.id = samples.id AND frames.frame = 0
LEFT JOIN _operator_frames AS operators ON operators.id = samples.id
GROUP BY samples.recording, samples.pid, samples.tid
