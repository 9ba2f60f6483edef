-- Steps of a job, each with the path that its end rested on as a line of text.
--
-- A rank is told with why the others waited for it, or else with what most of its time on the path went to; a
-- collective by its place in the step. See critical_path for the parts.
--
-- needs: critical_path
CREATE VIEW critical_steps AS
WITH
    stretches AS (
        SELECT
            job,
            step,
            stretch,
            any_value(step_kind) AS step_kind,
            any_value(rank) AS rank,
            sum(dur_ns) AS dur_ns,
            CASE
                WHEN any_value(who) = 'everyone' THEN 'everyone'
                ELSE concat_ws(' ', any_value(who), coalesce(any_value(cause), arg_max(what, dur_ns)))
            END AS text
        FROM critical_path
        GROUP BY job, step, stretch
    ),
    paths AS (
        SELECT
            job,
            step,
            any_value(step_kind) AS step_kind,
            sum(dur_ns) AS dur_ns,
            count(DISTINCT rank) AS ranks,
            list(text ORDER BY stretch) AS texts
        FROM stretches
        GROUP BY job, step
    )
SELECT
    job, -- number of the job, from 0; -1, -2, ... for jobs without NCCL
    step, -- number of the step, the same in all ranks
    step_kind, -- warmup, train, evaluation, checkpoint or profiler
    CAST(dur_ns AS BIGINT) AS dur_ns, -- [ns] how long the path is
    ranks, -- ranks on it
    CASE
        WHEN len(texts) <= 9 THEN array_to_string(texts, ' -> ')
        ELSE format('{} -> ... -> {}', array_to_string(texts[:4], ' -> '), array_to_string(texts[-4:], ' -> '))
    END AS path -- the path, as in: rank 37 data wait -> all-reduce 14 -> everyone
FROM paths
ORDER BY job, step
