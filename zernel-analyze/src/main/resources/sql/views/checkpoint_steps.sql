-- Steps in which the training thread opened a checkpoint.
--
-- A file is taken for a checkpoint by its name: `.pt`, `.pth`, `.ckpt`, `.safetensors`, `.distcp`, or `checkpoint` in
-- its path. Data sets can have such names too, so this alone says nothing of a loss.
--
-- needs: events, steps
CREATE TABLE checkpoint_steps AS
WITH
    opened AS (
        SELECT recording, pid, tid, ts_ns, path
        FROM events
        WHERE kind = 'io_open'
            AND coalesce(status, 0) >= 0
            AND (
                regexp_matches(path, '\.(pt|pth|ckpt|safetensors|distcp)(\.tmp)?$')
                OR contains(lower(path), 'checkpoint')
            )
    )
SELECT
    steps.recording, -- recording
    steps.pid, -- process
    steps.tid, -- training thread
    steps.step, -- number of the step
    any_value(steps.dur_ns) AS dur_ns, -- [ns] wall time of the step
    min(opened.path) AS path -- file
FROM opened
ASOF JOIN steps
    ON steps.recording = opened.recording
    AND steps.pid = opened.pid
    AND steps.tid = opened.tid
    AND steps.start_ns <= opened.ts_ns
WHERE opened.ts_ns < steps.end_ns
GROUP BY steps.recording, steps.pid, steps.tid, steps.step
ORDER BY steps.recording, steps.pid, steps.tid, steps.step
