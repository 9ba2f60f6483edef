-- From which step on a training thread has another pace.
--
-- The change is where the ranks of step durations before and after differ most (Pettitt's test), so single slow steps
-- do not make one. Rows are changes that chance hardly makes, of at least a twentieth and of the usual deviation
-- between steps. Steps that resemble the one before them (slow waves) count for fewer. And the pace of most machines
-- comes and goes by some percent: a change is one that is three times as large as how much the medians of parts of the
-- training, of a thirtieth of its steps each, vary on either side of it. Parts that are far from the others, as those
-- in which many steps are slow, count no more than as three usual deviations.
--
-- needs: steps, _thread_numbers
-- digest: kept
CREATE TABLE step_changes AS
WITH
    thresholds AS (
        SELECT
            20 AS min_steps, -- steps of training
            5 AS min_side, -- steps on either side of the change
            1e-5 AS max_p, -- probability that chance makes it
            0.05 AS min_change, -- share of the pace before
            1 AS min_deviations, -- median deviations of steps, scaled as standard deviations
            30 AS parts, -- of the training
            5 AS min_part, -- steps of a part; what is left on either side is in none
            3 AS most_variations, -- usual deviations that a part counts as, at most
            3 AS min_variations -- standard deviations of the medians of parts
    ),
    trained AS (
        SELECT numbers.thread, steps.step, steps.dur_ns
        FROM steps
        JOIN _thread_numbers AS numbers
            ON numbers.recording = steps.recording
            AND numbers.pid = steps.pid
            AND numbers.tid = steps.tid
        WHERE steps.step_kind = 'train'
    ),
    ranked AS (
        SELECT
            thread,
            step,
            dur_ns,
            count(*) OVER all_steps AS steps,
            rank() OVER (all_steps ORDER BY dur_ns)
                + (count(*) OVER (PARTITION BY thread, dur_ns) - 1) / 2 AS place
        FROM trained
        WINDOW all_steps AS (PARTITION BY thread)
    ),
    walks AS (
        SELECT
            thread,
            step,
            steps,
            row_number() OVER walk AS before,
            abs(2 * sum(place) OVER walk - row_number() OVER walk * (steps + 1)) AS distance
        FROM ranked
        WINDOW walk AS (PARTITION BY thread ORDER BY step ROWS UNBOUNDED PRECEDING)
    ),
    turns AS (
        SELECT
            walks.thread,
            any_value(walks.steps) AS steps,
            arg_max(walks.step, walks.distance) AS last_step,
            6 * pow(max(walks.distance), 2)
                / (pow(any_value(walks.steps), 3) + pow(any_value(walks.steps), 2)) AS weight
        FROM walks
        CROSS JOIN thresholds
        WHERE walks.before BETWEEN thresholds.min_side AND walks.steps - thresholds.min_side
            AND walks.steps >= thresholds.min_steps
        GROUP BY ALL
    ),
    sides AS (
        SELECT
            turns.thread,
            trained.step > turns.last_step AS later,
            any_value(turns.steps) AS steps,
            any_value(turns.last_step) AS last_step,
            any_value(turns.weight) AS weight,
            count(*) AS side_steps,
            median(trained.dur_ns) AS median_ns,
            1.4826 * mad(trained.dur_ns) AS deviation_ns
        FROM turns
        JOIN trained ON trained.thread = turns.thread
        GROUP BY ALL
    ),
    residuals AS (
        SELECT
            trained.thread,
            trained.step,
            greatest(-3, least(3, (trained.dur_ns - sides.median_ns) / greatest(sides.deviation_ns, 1))) AS residual
        FROM trained
        JOIN sides ON sides.thread = trained.thread AND sides.later = (trained.step > sides.last_step)
    ),
    followed AS (
        SELECT
            thread,
            residual,
            lag(residual) OVER (PARTITION BY thread ORDER BY step) AS previous
        FROM residuals
    ),
    waves AS (
        SELECT thread, least(0.99, greatest(0, coalesce(corr(residual, previous), 0))) AS likeness
        FROM followed
        GROUP BY ALL
    ),
    numbered AS (
        SELECT
            trained.thread,
            sides.later,
            trained.dur_ns - sides.median_ns AS over_ns,
            greatest(thresholds.min_part, sides.steps // thresholds.parts) AS part_steps,
            row_number() OVER (PARTITION BY trained.thread, sides.later ORDER BY trained.step) - 1 AS number
        FROM trained
        JOIN sides ON sides.thread = trained.thread AND sides.later = (trained.step > sides.last_step)
        CROSS JOIN thresholds
    ),
    parts AS (
        SELECT thread, median(over_ns) AS over_ns
        FROM numbered
        GROUP BY thread, later, part_steps, number // part_steps
        HAVING count(*) = part_steps
    ),
    usual AS (
        SELECT thread, 1.4826 * median(abs(over_ns)) AS over_ns
        FROM parts
        GROUP BY ALL
    ),
    variations AS (
        SELECT
            parts.thread,
            sqrt(
                sum(pow(least(abs(parts.over_ns), thresholds.most_variations * usual.over_ns), 2))
                    / greatest(count(*) - 2, 1)
            ) AS variation_ns
        FROM parts
        JOIN usual ON usual.thread = parts.thread
        CROSS JOIN thresholds
        GROUP BY parts.thread
    ),
    changes AS (
        SELECT
            before.thread,
            before.steps,
            before.last_step,
            after.side_steps AS steps_after,
            before.median_ns AS before_ns,
            after.median_ns AS after_ns,
            greatest(before.deviation_ns, after.deviation_ns) AS deviation_ns,
            variations.variation_ns,
            least(1, 2 * exp(-before.weight * (1 - waves.likeness) / (1 + waves.likeness))) AS p
        FROM sides AS before
        JOIN sides AS after ON after.thread = before.thread
        JOIN waves ON waves.thread = before.thread
        LEFT JOIN variations ON variations.thread = before.thread
        WHERE NOT before.later AND after.later
    )
SELECT
    numbers.recording, -- recording
    numbers.pid, -- process
    numbers.tid, -- training thread
    changes.last_step + 1 AS step, -- first step at the new pace
    changes.steps, -- steps of training, without warm-up, evaluation and checkpoints
    changes.steps_after, -- of them, those at the new pace
    CAST(changes.before_ns AS BIGINT) AS before_ns, -- [ns] median step before
    CAST(changes.after_ns AS BIGINT) AS after_ns, -- [ns] median step from then on
    changes.p -- probability that chance makes such a change
FROM changes
JOIN _thread_numbers AS numbers ON numbers.thread = changes.thread
CROSS JOIN thresholds
WHERE changes.p <= thresholds.max_p
    AND abs(changes.after_ns - changes.before_ns) >= thresholds.min_change * changes.before_ns
    AND abs(changes.after_ns - changes.before_ns) >= thresholds.min_deviations * changes.deviation_ns
    AND abs(changes.after_ns - changes.before_ns)
        >= thresholds.min_variations * coalesce(changes.variation_ns, 0)
ORDER BY changes.thread
