-- What is shown of a finding, from the facts that its query returned: the table `_finding`. What that leaves out is NULL.
--
-- Times become milliseconds per step, the share of a step that is lost at least the severity, what can be saved at most
-- a factor and the arithmetic at the end of the evidence. The worst rows are shown, the worst first. In `next_command`,
-- `{}` stands for the file.
WITH
    facts AS (
        SELECT
            NULL::BIGINT AS recording, -- for the name of the file
            NULL::BIGINT AS pid, -- process, and
            NULL::BIGINT AS tid, -- thread that it is about, where it is one and there is no `subject`
            NULL::VARCHAR AS subject, -- what it is about
            NULL::DOUBLE AS part_ns, -- [ns] of a step, shown as its share
            NULL::DOUBLE AS value, -- how much, where it is no share of a step
            NULL::VARCHAR AS unit, -- unit of `value`
            NULL::DOUBLE AS step_ns, -- [ns] step
            NULL::DOUBLE AS lost_ns, -- [ns] lost per step, by an estimate
            NULL::DOUBLE AS bound_ns, -- [ns] of a step that can be saved at most
            NULL::DOUBLE AS least_idle_ns, -- [ns] the GPU is idle at least, where its use was not sampled
            NULL::DOUBLE AS least_lost_ns, -- [ns] lost per step at least, where `lost_ns` is in the middle of a range
            NULL::DOUBLE AS advice_saves_ns, -- [ns] of a step that the advice saves at least, where all of `lost_ns` is not sure
            NULL::VARCHAR AS severity, -- high, medium or low, where it is not that by the share of a step
            NULL::DOUBLE AS max_speedup, -- bound, where it is not that by `bound_ns`
            NULL::VARCHAR AS evidence, -- what it rests on, in parts that end with '; '
            NULL::VARCHAR AS advice, -- what to try
            NULL::VARCHAR AS next_command -- to see more
        WHERE FALSE
        UNION ALL BY NAME
        FROM _finding
    ),
    shown AS (
        SELECT
            coalesce(subject, thread_label(recording, pid, coalesce(tid, pid))) AS subject,
            coalesce(value, round(100 * part_ns / step_ns, 1)) AS value,
            coalesce(unit, CASE WHEN part_ns IS NOT NULL THEN '% of step time' END) AS unit,
            coalesce(
                severity,
                CASE WHEN lost_ns IS NOT NULL THEN severity_of(coalesce(least_lost_ns, lost_ns) / step_ns) END
            ) AS severity,
            round(lost_ns / 1e6, 3) AS lost_ms_per_step,
            coalesce(max_speedup, speedup(step_ns, bound_ns)) AS max_speedup,
            rtrim(evidence, '; ')
                || CASE
                    WHEN bound_ns IS NULL THEN ''
                    ELSE '; ' || unsampled_text(lost_ns, least_idle_ns, bound_ns) || bound_text(step_ns, bound_ns)
                END
                AS evidence,
            advice,
            coalesce(replace(next_command, '{}', file_label(recording)), next_command) AS next_command,
            round(least_lost_ns / 1e6, 3) AS least_lost_ms_per_step,
            round(advice_saves_ns / 1e6, 3) AS advice_saves_ms_per_step,
            recording AS _recording, -- whose lines hold its time
            pid AS _pid,
            tid AS _tid,
            * EXCLUDE (
                recording, pid, tid, subject, part_ns, value, unit, step_ns, lost_ns, bound_ns, least_idle_ns,
                least_lost_ns, advice_saves_ns, severity, max_speedup, evidence, advice, next_command
            )
        FROM facts
    )
FROM shown
ORDER BY
    coalesce(least_lost_ms_per_step, lost_ms_per_step) DESC,
    lost_ms_per_step DESC,
    list_position(['high', 'medium', 'low'], severity),
    value DESC,
    subject,
    evidence
LIMIT 20
