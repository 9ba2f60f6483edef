-- Training threads whose steps take longer and longer.
--
-- The median steps of ten parts of the training rise from each to the next, but for four pairs of all at most, which of
-- parts in any order 1 in 5,600 does. A straight line fits them better than two paces with a change between them
-- (view step_changes), and the last is over the first by a fifth. Other threads have no row.
--
-- needs: steps, _thread_numbers
-- digest: kept
CREATE TABLE step_trends AS
WITH
    thresholds AS (
        SELECT
            50 AS min_steps, -- steps of training
            4 AS max_falls, -- pairs of parts of which the later one is faster
            0.2 AS min_growth -- of the last part's median over the first one's, as a share of that
    ),
    parted AS (
        SELECT
            numbers.thread,
            steps.step,
            steps.dur_ns,
            ntile(10) OVER (PARTITION BY numbers.thread ORDER BY steps.step) AS part,
            count(*) OVER (PARTITION BY numbers.thread) AS steps
        FROM steps
        JOIN _thread_numbers AS numbers
            ON numbers.recording = steps.recording
            AND numbers.pid = steps.pid
            AND numbers.tid = steps.tid
        WHERE steps.step_kind = 'train'
    ),
    parts AS (
        SELECT
            parted.thread,
            parted.part,
            median(parted.step) AS step,
            median(parted.dur_ns) AS ns,
            quantile_cont(parted.dur_ns, 0.05) AS short_ns
        FROM parted
        CROSS JOIN thresholds
        WHERE parted.steps >= thresholds.min_steps
        GROUP BY parted.thread, parted.part
    ),
    falls AS (
        SELECT earlier.thread
        FROM parts AS earlier
        JOIN parts AS later ON later.thread = earlier.thread AND later.part > earlier.part
        CROSS JOIN thresholds
        GROUP BY earlier.thread
        HAVING count(CASE WHEN later.ns <= earlier.ns THEN 1 END) <= any_value(thresholds.max_falls)
    ),
    paces AS (
        SELECT
            parts.thread,
            changes.part AS last_part,
            sum(pow(parts.ns, 2)) - pow(sum(parts.ns), 2) / count(*) AS squares
        FROM parts
        JOIN parts AS changes ON changes.thread = parts.thread
        WHERE changes.part < 10
        GROUP BY parts.thread, changes.part, parts.part <= changes.part
    ),
    -- What is left of the medians' differences with two paces, at the best change.
    changed AS (
        SELECT thread, min(squares) AS squares
        FROM (SELECT thread, last_part, sum(squares) AS squares FROM paces GROUP BY ALL)
        GROUP BY thread
    ),
    lines AS (
        SELECT
            parts.thread,
            arg_min(parts.ns, parts.part) AS first_ns,
            any_value(parts.ns) FILTER (parts.part = 2) AS second_ns,
            -- As at its first step, by how steps grow from the first tenth to the second.
            greatest(
                least(arg_min(parts.short_ns, parts.part), 1.5 * first_ns - 0.5 * second_ns), 0.1 * first_ns
            ) AS start_ns,
            arg_max(parts.ns, parts.part) AS last_ns,
            regr_slope(parts.ns, parts.step) AS per_step_ns,
            regr_syy(parts.ns, parts.step) - pow(regr_sxy(parts.ns, parts.step), 2) / regr_sxx(parts.ns, parts.step)
                AS squares
        FROM parts
        SEMI JOIN falls ON falls.thread = parts.thread
        GROUP BY parts.thread
    ),
    means AS (
        SELECT thread, any_value(steps) AS steps, avg(dur_ns) AS mean_ns
        FROM parted
        GROUP BY thread
    )
SELECT
    numbers.recording, -- recording
    numbers.pid, -- process
    numbers.tid, -- training thread
    means.steps, -- steps of training, without warm-up, evaluation and checkpoints
    CAST(lines.first_ns AS BIGINT) AS first_ns, -- [ns] median step of the first tenth
    CAST(lines.start_ns AS BIGINT)
        AS start_ns, -- [ns] step before it grew: a short one of the first tenth, or less by what it grows to the second
    CAST(lines.last_ns AS BIGINT) AS last_ns, -- [ns] median step of the last tenth
    CAST(means.mean_ns AS BIGINT) AS mean_ns, -- [ns] mean step
    lines.per_step_ns -- [ns] by which a step is longer than the one before it
FROM lines
JOIN changed ON changed.thread = lines.thread
JOIN means ON means.thread = lines.thread
JOIN _thread_numbers AS numbers ON numbers.thread = lines.thread
CROSS JOIN thresholds
WHERE lines.squares < changed.squares AND lines.last_ns >= (1 + thresholds.min_growth) * lines.first_ns
ORDER BY numbers.thread
