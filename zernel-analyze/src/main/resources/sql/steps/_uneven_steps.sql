-- Steps in which pauses are looked for, and those to compare them with.
--
-- Slow are training steps that take a fifth longer than the median; usual are the 20 longest of the others. Of each
-- process, the thread with the most steps. Where Python's garbage collector itself was probed, nothing is looked for.
-- What was called is known of detailed steps only.
--
-- needs: steps, _step_counts, probes
CREATE TABLE _uneven_steps AS
WITH
    constants AS (
        SELECT
            1.2 AS slow, -- times the median: slow steps
            20 AS usual_steps -- to compare with
    ),
    trained AS (
        SELECT
            steps.recording,
            steps.pid,
            steps.tid,
            steps.step,
            steps.start_ns,
            steps.end_ns,
            steps.dur_ns,
            steps.detailed
        FROM steps
        JOIN _step_counts AS counts
            ON counts.recording = steps.recording
            AND counts.pid = steps.pid
            AND counts.tid = steps.tid
        WHERE steps.step_kind = 'train'
            AND steps.recording NOT IN (
                SELECT recording FROM probes WHERE kind = 'gc' AND state = 'attached' AND entries > 0
            )
    ),
    medians AS (
        SELECT recording, pid, median(dur_ns) AS dur_ns
        FROM trained
        GROUP BY ALL
    ),
    compared AS (
        SELECT trained.*, trained.dur_ns > constants.slow * medians.dur_ns AS slow
        FROM trained
        JOIN medians ON medians.recording = trained.recording AND medians.pid = trained.pid
        CROSS JOIN constants
        WHERE trained.detailed
    ),
    ranked AS (
        SELECT compared.*, row_number() OVER (PARTITION BY recording, pid, slow ORDER BY dur_ns DESC, step) AS place
        FROM compared
    )
SELECT
    ranked.recording, -- recording
    ranked.pid, -- process
    ranked.tid, -- training thread
    ranked.step, -- number of the step
    ranked.start_ns, -- [ns] when it began
    ranked.end_ns, -- [ns] when it ended
    ranked.slow -- whether it is a slow one
FROM ranked
CROSS JOIN constants
WHERE ranked.slow OR ranked.place <= constants.usual_steps
