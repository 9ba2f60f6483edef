-- Rounds of optimizers that take turns, as those of a GAN, of each thread that has `_optimizer_turns`.
--
-- A round is a step of the training. It ends with the turn of the optimizer that comes least often, of equally frequent
-- ones the one that came last. Without a fixed pattern each turn is a step, which `text` says.
--
-- needs: _optimizer_turns
CREATE TABLE _optimizer_rounds AS
WITH
    constants AS (
        SELECT
            0.8 AS usual_share, -- of rounds that are alike, at least
            5 AS least_rounds, -- at least
            20 AS most_turns, -- in a round: what steps more rarely is part of another one's step
            0.1 AS other_share, -- of turns whose line was seen, of all but the most frequent line
            4 AS least_seen -- of such turns
    ),
    optimizers AS (
        SELECT
            thread,
            what,
            count(*) AS turns,
            min(number) AS first,
            max(count(*)) OVER (PARTITION BY thread) AS most,
            coalesce(nullif(regexp_extract(what, '([^/;(]+:\d+)\)$', 1), ''), what) AS label
        FROM _optimizer_turns
        GROUP BY thread, what
    ),
    frequent AS (
        SELECT optimizers.*
        FROM optimizers
        CROSS JOIN constants
        WHERE optimizers.turns * constants.most_turns >= optimizers.most
    ),
    lasts AS (
        SELECT thread, arg_min(what, (turns, -first)) AS what, string_agg(label, ', ' ORDER BY first) AS labels
        FROM frequent
        GROUP BY thread
        HAVING count(*) > 1
    ),
    bounded AS (
        SELECT
            turns.thread,
            turns.number,
            turns.what,
            len(turns.ends) AS calls,
            lag(turns.what) OVER thread_order = lasts.what AND turns.what <> lasts.what AS begins,
            lead(turns.what) OVER thread_order IS NULL AND turns.what <> lasts.what AS is_cut
        FROM _optimizer_turns AS turns
        JOIN lasts ON lasts.thread = turns.thread
        WINDOW thread_order AS (PARTITION BY turns.thread ORDER BY turns.number)
    ),
    rounds AS (
        SELECT thread, round, string_agg(what, '|' ORDER BY number) AS whats, sum(calls) AS calls, count(*) AS turns
        FROM (
            SELECT
                bounded.*,
                count(CASE WHEN begins THEN 1 END) OVER (PARTITION BY thread ORDER BY number) AS round
            FROM bounded
        )
        GROUP BY thread, round
        HAVING NOT bool_or(is_cut)
    ),
    patterns AS (
        SELECT
            thread,
            any_value(turns) AS turns,
            any_value(calls) AS calls,
            count(*) AS rounds,
            count(*) / sum(count(*)) OVER (PARTITION BY thread) AS share
        FROM rounds
        GROUP BY thread, whats
    ),
    fixed AS (
        SELECT patterns.thread, patterns.calls
        FROM patterns
        CROSS JOIN constants
        WHERE patterns.share >= constants.usual_share
            AND patterns.rounds >= constants.least_rounds
            AND patterns.turns <= constants.most_turns
    ),
    seen AS (
        SELECT thread, count(*) AS lines, sum(turns) AS turns, max(turns) AS most
        FROM (
            SELECT thread, seen_line, count(*) AS turns
            FROM _optimizer_turns
            WHERE seen_line IS NOT NULL
            GROUP BY thread, seen_line
        )
        GROUP BY thread
    ),
    mixed AS (
        SELECT seen.thread, seen.lines
        FROM seen
        CROSS JOIN constants
        WHERE seen.turns - seen.most >= greatest(constants.other_share * seen.turns, constants.least_seen)
    ),
    threads AS (
        SELECT thread, mode(len(ends) ORDER BY len(ends)) AS calls
        FROM _optimizer_turns
        GROUP BY thread
    )
SELECT
    threads.thread, -- number of the training thread
    CASE WHEN fixed.thread IS NOT NULL THEN lasts.what END AS last_what, -- with which turns rounds end, NULL without
    CASE
        WHEN fixed.thread IS NOT NULL THEN format('rounds of {} calls: {}', CAST(fixed.calls AS BIGINT), lasts.labels)
        WHEN lasts.thread IS NOT NULL THEN format('of {}, which step in no fixed order', lasts.labels)
        WHEN mixed.thread IS NOT NULL
            THEN format('each call counts, after backward passes of {} lines in no fixed order', mixed.lines)
        WHEN threads.calls > 1 THEN format('{} calls after each backward pass', threads.calls)
    END AS text -- what more than a call of `Optimizer.step` makes a step, or why a call does; NULL where that is clear
FROM threads
LEFT JOIN lasts ON lasts.thread = threads.thread
LEFT JOIN fixed ON fixed.thread = threads.thread
LEFT JOIN mixed ON mixed.thread = threads.thread
