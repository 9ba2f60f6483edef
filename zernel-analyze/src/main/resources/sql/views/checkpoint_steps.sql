-- Steps in which the training thread opened a checkpoint.
--
-- A file is taken for a checkpoint by its name, and data sets can have such names too, so this alone says nothing of a
-- loss.
--
-- needs: _checkpoint_opens, steps
CREATE TABLE checkpoint_steps AS
SELECT
    steps.recording, -- recording
    steps.pid, -- process
    steps.tid, -- training thread
    steps.step, -- number of the step
    any_value(steps.dur_ns) AS dur_ns, -- [ns] wall time of the step
    min(opened.path) AS path -- file
FROM _checkpoint_opens AS opened
ASOF JOIN steps
    ON steps.recording = opened.recording
    AND steps.pid = opened.pid
    AND steps.tid = opened.tid
    AND steps.start_ns <= opened.ts_ns
WHERE opened.ts_ns < steps.end_ns
GROUP BY steps.recording, steps.pid, steps.tid, steps.step
ORDER BY steps.recording, steps.pid, steps.tid, steps.step
