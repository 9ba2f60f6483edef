-- Phases of each training thread over time: one row per uninterrupted stretch.
--
-- Stretches follow each other without overlap or hole; `phases` sums them.
--
-- needs: _segments
CREATE VIEW phase_spans AS
WITH
    marked AS (
        SELECT
            recording,
            pid,
            tid,
            phase,
            start_ns,
            end_ns,
            lag(phase) OVER thread_order IS DISTINCT FROM phase AS changes
        FROM _segments
        WINDOW thread_order AS (PARTITION BY recording, pid, tid ORDER BY start_ns)
    ),
    numbered AS (
        SELECT
            recording,
            pid,
            tid,
            phase,
            start_ns,
            end_ns,
            count(CASE WHEN changes THEN 1 END) OVER (
                PARTITION BY recording, pid, tid
                ORDER BY start_ns
                ROWS UNBOUNDED PRECEDING
            ) AS span
        FROM marked
    )
SELECT
    recording, -- recording
    pid, -- process
    tid, -- training thread
    any_value(phase) AS phase, -- DataLoading, GpuCompute, NcclCollective, OptimizerStep or Unknown
    min(start_ns) AS start_ns, -- [ns] when it began
    max(end_ns) AS end_ns, -- [ns] when another phase followed
    max(end_ns) - min(start_ns) AS dur_ns -- [ns] wall time
FROM numbered
GROUP BY recording, pid, tid, span
ORDER BY recording, pid, tid, start_ns
