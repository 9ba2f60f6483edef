-- Most of the time is unexplained. No recorded call covers it, so no statement about its cause can be made.
--
-- Typical reasons: Python code between the calls, an input pipeline that is not a DataLoader, evaluation without
-- backward, compiled or graph-captured steps.
--
-- needs: phases, files
-- severity: always low: it limits what the report can say, and is no fault of the job
-- hint: name the suspects with torch.profiler.record_function and record again; no profiler needs to run
WITH
    thresholds AS (
        SELECT 0.4 AS min_share -- share of wall time that is Unknown
    )
SELECT
    thread_label(phases.recording, phases.pid, phases.tid) AS subject, -- training thread
    round(100 * phases.share, 1) AS value, -- share of wall time that is Unknown
    '% of wall time' AS unit, -- unit of value
    'low' AS severity, -- always low
    CAST(NULL AS DOUBLE) AS lost_ms_per_step, -- not known
    CAST(NULL AS DOUBLE) AS max_speedup, -- not known
    format('{} of {} lie outside every recorded call', ms(phases.total_ns), ms(phases.wall_ns))
        AS evidence, -- what it rests on
    'put `with torch.profiler.record_function("...")` around the suspects and record again' AS advice, -- what to try
    format('sudo zernel-record -p {} -o again.parquet', phases.pid) AS next_command -- to see more
FROM phases
CROSS JOIN thresholds
WHERE phases.phase = 'Unknown' AND phases.share >= thresholds.min_share
ORDER BY value DESC, subject
LIMIT 20
