-- Steps in which the training thread opened a checkpoint to write it, without warm-up.
--
-- `_checkpoint_opens` says what is taken for one. Such a step need not be longer than others.
--
-- needs: _checkpoint_opens, steps
CREATE TABLE checkpoint_steps AS
SELECT
    steps.recording, -- recording
    steps.pid, -- process
    steps.tid, -- training thread
    steps.step, -- number of the step
    any_value(steps.dur_ns) AS dur_ns, -- [ns] wall time of the step
    min(opened.ts_ns) AS opened_ns, -- [ns] when the first file of it was opened
    CAST(coalesce(sum(opened.dur_ns), 0) AS BIGINT) AS opening_ns, -- [ns] that it took to open its files
    arg_min(opened.path, opened.ts_ns) AS path -- that file
FROM _checkpoint_opens AS opened
ASOF JOIN steps
    ON steps.recording = opened.recording
    AND steps.pid = opened.pid
    AND steps.tid = opened.tid
    AND steps.start_ns <= opened.ts_ns
WHERE opened.ts_ns < steps.end_ns AND steps.step_kind <> 'warmup'
GROUP BY steps.recording, steps.pid, steps.tid, steps.step
ORDER BY steps.recording, steps.pid, steps.tid, steps.step
