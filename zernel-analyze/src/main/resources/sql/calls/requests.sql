-- Requests of inference: groups of engine steps, each from one prompt to the next.
--
-- A prompt runs kernels that no other step runs. Of the kinds of call that come in less than half of the steps, the set
-- of steps that most of them share is where groups begin; it must hold three kinds or more, and steps in both halves of
-- all. The first group begins with the first step. Time without work, before the next request comes, counts with the
-- one before. Where an engine mixes prompts
-- into the steps of other requests, a group is what lies between two prompts. Steps that are all alike are in no group.
--
-- needs: _repeated_calls, _purposes, steps
CREATE TABLE requests AS
WITH
    engines AS (
        SELECT steps.recording, steps.pid, steps.tid, steps.step, steps.start_ns, steps.end_ns, steps.step_kind
        FROM steps
        JOIN _purposes AS purposes ON purposes.recording = steps.recording AND purposes.pid = steps.pid
        WHERE purposes.purpose = 'inference'
    ),
    lengths AS (
        SELECT recording, pid, max(step) AS steps
        FROM engines
        GROUP BY ALL
    ),
    seen AS (
        SELECT DISTINCT engines.recording, engines.pid, engines.step, calls.alike
        FROM _repeated_calls AS calls
        ASOF JOIN engines
            ON engines.recording = calls.recording
            AND engines.pid = calls.pid
            AND engines.start_ns <= calls.ts_ns
        WHERE calls.ts_ns < engines.end_ns
    ),
    kinds_of_calls AS (
        SELECT recording, pid, alike, count(*) AS steps, max(step) AS last_step, bit_xor(hash(step)) AS which
        FROM seen
        WHERE step > 1
        GROUP BY ALL
    ),
    sets AS (
        SELECT
            kinds_of_calls.recording,
            kinds_of_calls.pid,
            kinds_of_calls.which,
            min(kinds_of_calls.alike) AS alike,
            count(*) AS kinds
        FROM kinds_of_calls
        JOIN lengths ON lengths.recording = kinds_of_calls.recording AND lengths.pid = kinds_of_calls.pid
        WHERE kinds_of_calls.steps > 1
            AND 2 * kinds_of_calls.steps <= lengths.steps
            AND 2 * kinds_of_calls.last_step > lengths.steps
        GROUP BY kinds_of_calls.recording, kinds_of_calls.pid, kinds_of_calls.which
        HAVING count(*) >= 3
        QUALIFY row_number() OVER (
            PARTITION BY kinds_of_calls.recording, kinds_of_calls.pid
            ORDER BY count(*) DESC, kinds_of_calls.which
        ) = 1
    ),
    begins AS (
        SELECT seen.recording, seen.pid, seen.step
        FROM seen
        JOIN sets ON sets.recording = seen.recording AND sets.pid = seen.pid AND sets.alike = seen.alike
        JOIN lengths ON lengths.recording = seen.recording AND lengths.pid = seen.pid
        WHERE seen.step < lengths.steps
        UNION
        SELECT recording, pid, 1
        FROM sets
    ),
    groups AS (
        SELECT
            recording,
            pid,
            step,
            row_number() OVER process_order AS request,
            lead(step) OVER process_order AS next_step
        FROM begins
        WINDOW process_order AS (PARTITION BY recording, pid ORDER BY step)
    )
SELECT
    engines.recording, -- recording
    engines.pid, -- process
    engines.tid, -- thread that runs the engine
    groups.request, -- number of the request, from 1
    min(engines.step) AS first_step, -- its first step, which has the prompt
    count(*) AS steps, -- engine steps: tokens of each sequence, where text is generated
    min(engines.start_ns) AS start_ns, -- [ns] when it began
    max(engines.end_ns) AS end_ns, -- [ns] when the next one began, or the last step ended
    max(engines.end_ns) - min(engines.start_ns) AS dur_ns, -- [ns] from one to the other
    arg_min(engines.end_ns - engines.start_ns, engines.step) AS first_step_ns, -- [ns] the first step
    2 * count(CASE WHEN engines.step_kind = 'warmup' THEN 1 END) >= count(*)
        AS warms_up -- whether half of it or more is warm-up
FROM groups
JOIN engines
    ON engines.recording = groups.recording
    AND engines.pid = groups.pid
    AND engines.step >= groups.step
    AND engines.step < coalesce(groups.next_step, engines.step + 1)
GROUP BY engines.recording, engines.pid, engines.tid, groups.request
ORDER BY engines.recording, engines.pid, groups.request
