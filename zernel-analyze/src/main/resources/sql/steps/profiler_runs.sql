-- Profiles that PyTorch's profiler made in the job: one row for each, from its begin to its end.
--
-- While it is on, each operator, and with stacks each call of Python, costs more. That it is prepared, as in the
-- warm-up of its schedule, is its begin. What it did before the recording began, and after it, is not known.
--
-- needs: _profiler_calls
CREATE VIEW profiler_runs AS
WITH
    ordered AS (
        SELECT
            recording,
            pid,
            start_ns,
            end_ns,
            begins,
            begins AND NOT lag(begins, 1, FALSE) OVER (PARTITION BY recording, pid ORDER BY start_ns) AS is_first
        FROM _profiler_calls
    ),
    numbered AS (
        SELECT *, count(CASE WHEN is_first THEN 1 END) OVER (
                PARTITION BY recording, pid
                ORDER BY start_ns
                ROWS UNBOUNDED PRECEDING
            ) AS profile
        FROM ordered
    )
SELECT
    recording, -- recording
    pid, -- process
    CAST(min(CASE WHEN begins THEN start_ns END) AS BIGINT) AS start_ns, -- [ns] begin; NULL before the recording's
    CAST(max(CASE WHEN begins THEN end_ns END) AS BIGINT) AS on_ns, -- [ns] when it was on; NULL likewise
    CAST(min(CASE WHEN NOT begins THEN start_ns END) AS BIGINT) AS off_ns, -- [ns] when it was ended; NULL if it was not
    CAST(max(CASE WHEN NOT begins THEN end_ns END) AS BIGINT) AS end_ns -- [ns] when all was written; NULL likewise
FROM numbered
GROUP BY recording, pid, profile
ORDER BY recording, pid, profile
