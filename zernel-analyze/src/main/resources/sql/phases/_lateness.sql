-- How much longer than the others a rank that came last took, as time of its mean step: one row per process.
--
-- needs: late_steps, _trained
CREATE VIEW _lateness AS
SELECT
    late_steps.recording, -- recording
    late_steps.pid, -- process of the late rank
    sum(late_steps.cause_ns) / any_value(trained.steps) AS late_ns -- [ns] more than the others, where that explains it
FROM late_steps
JOIN _trained AS trained ON trained.recording = late_steps.recording AND trained.pid = late_steps.pid
WHERE late_steps.step_kind <> 'warmup' AND late_steps.cause IS NOT NULL
GROUP BY late_steps.recording, late_steps.pid
