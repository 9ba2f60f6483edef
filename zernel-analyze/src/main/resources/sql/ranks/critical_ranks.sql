-- Ranks by how much of what steps rested on was their own time, and what they did then.
--
-- Steps are those without warm-up. Time of collectives, and of all ranks after the last one, is nobody's. Where all
-- ranks are alike, each has about the same share.
--
-- needs: critical_path, critical_steps
CREATE VIEW critical_ranks AS
WITH
    totals AS (
        SELECT job, sum(dur_ns) AS dur_ns, count(*) AS steps
        FROM critical_steps
        WHERE step_kind <> 'warmup'
        GROUP BY job
    ),
    own AS (
        SELECT job, step, recording, pid, rank, who, what, cause, dur_ns
        FROM critical_path
        WHERE step_kind <> 'warmup' AND who <> 'everyone'
    ),
    parts AS (
        SELECT job, recording, pid, what, sum(dur_ns) AS dur_ns
        FROM own
        GROUP BY ALL
    ),
    main_parts AS (
        SELECT job, recording, pid, arg_max(what, (dur_ns, what)) AS what, max(dur_ns) AS dur_ns
        FROM parts
        GROUP BY ALL
    ),
    causes AS (
        SELECT job, recording, pid, arg_max(cause, (steps, cause)) AS cause, max(steps) AS steps
        FROM (
            SELECT job, recording, pid, cause, count(DISTINCT step) AS steps
            FROM own
            WHERE cause IS NOT NULL
            GROUP BY ALL
        )
        GROUP BY ALL
    ),
    ranks AS (
        SELECT
            own.job,
            own.recording,
            own.pid,
            any_value(own.rank) AS rank,
            any_value(own.who) AS who,
            sum(own.dur_ns) AS dur_ns,
            count(DISTINCT own.step) AS steps,
            arg_max({'step': steps.step, 'path': steps.path}, (steps.dur_ns, -steps.step)) AS worst
        FROM own
        JOIN critical_steps AS steps ON steps.job = own.job AND steps.step = own.step
        GROUP BY own.job, own.recording, own.pid
    )
SELECT
    ranks.job, -- number of the job, from 0; -1, -2, ... for jobs without NCCL
    ranks.recording, -- recording
    ranks.pid, -- process
    ranks.rank, -- the rank, or a number by process
    ranks.who, -- the same as text: rank, or its process where that is not known
    ranks.steps, -- steps that rested on it
    totals.steps AS of_steps, -- of so many
    ranks.dur_ns / totals.dur_ns AS share, -- its share of the paths of all steps, 0 to 1
    CASE WHEN 2 * causes.steps >= ranks.steps THEN causes.cause END
        AS cause, -- why it came last in half of them or more, as in late_steps; NULL where that is not known
    main_parts.what, -- what most of its time is: data wait, forward, backward, optimizer, asleep, CPU wait, ...
    main_parts.dur_ns / totals.dur_ns AS what_share, -- share of it in the paths of all steps
    ranks.worst.step AS worst_step, -- the longest of its steps
    ranks.worst.path AS worst_path -- what that rested on
FROM ranks
JOIN totals ON totals.job = ranks.job
LEFT JOIN causes ON causes.job = ranks.job AND causes.recording = ranks.recording AND causes.pid = ranks.pid
JOIN main_parts
    ON main_parts.job = ranks.job
    AND main_parts.recording = ranks.recording
    AND main_parts.pid = ranks.pid
ORDER BY share DESC, ranks.job, ranks.recording, ranks.pid
