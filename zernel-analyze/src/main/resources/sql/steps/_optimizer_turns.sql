-- Turns of optimizers that no DataLoader feeds: calls of `Optimizer.step` without a backward pass between them.
--
-- They are one turn where nearly all passes have equally many: those of one optimizer for matrices and one for the
-- rest, or of one for each parameter in a hook of its gradient.
--
-- needs: _intervals, _thread_numbers, _rare_events, _role_calls
CREATE TABLE _pass_turns AS
WITH
    constants AS (
        SELECT 0.8 AS usual_share -- of backward passes with equally many calls after them, at least
    ),
    calls AS (
        SELECT calls.thread, calls.start_ns, calls.end_ns
        FROM _intervals AS calls
        ANTI JOIN (
            SELECT numbers.thread
            FROM _role_calls AS roles
            JOIN _thread_numbers AS numbers USING (recording, pid, tid)
            WHERE roles.role = 'step'
        ) AS told ON told.thread = calls.thread
        WHERE calls.part = 'optimizer_step' AND NOT calls.fed
        QUALIFY coalesce(
            lead(calls.start_ns) OVER (PARTITION BY calls.thread ORDER BY calls.end_ns) >= calls.end_ns,
            TRUE
        )
    ),
    stepping AS (
        SELECT threads.thread, threads.recording, threads.pid, threads.tid
        FROM _thread_numbers AS threads
        SEMI JOIN calls ON calls.thread = threads.thread
    ),
    names AS (
        SELECT
            stepping.thread,
            regions.ts_ns AS start_ns,
            any_value(regexp_extract(regions.name, '#(.*?)(\.step)?$', 1)) AS name
        FROM _rare_events AS regions
        JOIN stepping
            ON stepping.recording = regions.recording
            AND stepping.pid = regions.pid
            AND stepping.tid = regions.tid
        WHERE regions.kind = 'region' AND regions.name LIKE 'Optimizer.step#%'
        GROUP BY ALL
    ),
    -- Those of the thread, or where it has none of its process: hooks of gradients run in the engine's threads.
    passes AS (
        SELECT
            stepping.thread,
            backwards.ts_ns AS start_ns,
            backwards.ts_ns + backwards.dur_ns AS end_ns
        FROM _rare_events AS backwards
        JOIN stepping ON stepping.recording = backwards.recording AND stepping.pid = backwards.pid
        WHERE backwards.kind = 'backward' AND backwards.dur_ns > 0
        QUALIFY backwards.tid = stepping.tid
            OR NOT bool_or(backwards.tid = stepping.tid) OVER (PARTITION BY stepping.thread)
    ),
    preceded AS (
        SELECT
            calls.thread,
            calls.start_ns,
            calls.end_ns,
            passes.start_ns AS pass_ns,
            passes.end_ns AS pass_end_ns,
            lag(calls.end_ns) OVER (PARTITION BY calls.thread ORDER BY calls.end_ns) AS previous_ns
        FROM calls
        ASOF LEFT JOIN passes ON passes.thread = calls.thread AND passes.start_ns <= calls.end_ns
    ),
    numbered AS (
        SELECT
            preceded.*,
            row_number() OVER thread_order AS call,
            count(CASE WHEN previous_ns IS NULL OR pass_ns >= previous_ns THEN 1 END) OVER thread_order AS pass
        FROM preceded
        WINDOW thread_order AS (PARTITION BY thread ORDER BY end_ns)
    ),
    pass_calls AS (
        SELECT thread, pass, count(*) AS calls
        FROM numbered
        WHERE pass_ns IS NOT NULL
        GROUP BY thread, pass
    ),
    alike AS (
        SELECT thread, calls, count(*) / sum(count(*)) OVER (PARTITION BY thread) AS share
        FROM pass_calls
        GROUP BY thread, calls
    ),
    grouped AS (
        SELECT alike.thread
        FROM alike
        CROSS JOIN constants
        WHERE alike.share >= constants.usual_share AND alike.calls > 1
    ),
    turns AS (
        SELECT
            numbered.thread,
            CASE WHEN grouped.thread IS NOT NULL THEN numbered.pass ELSE numbered.call END AS turn,
            list(numbered.end_ns ORDER BY numbered.end_ns) AS ends,
            max(numbered.pass_ns) AS pass_ns,
            arg_max(numbered.pass_end_ns, numbered.pass_ns) AS pass_end_ns,
            coalesce(string_agg(DISTINCT names.name, ' and ' ORDER BY names.name), '') AS name
        FROM numbered
        LEFT JOIN grouped ON grouped.thread = numbered.thread
        LEFT JOIN names ON names.thread = numbered.thread AND names.start_ns = numbered.start_ns
        GROUP BY ALL
    )
SELECT
    thread, -- number of the training thread
    row_number() OVER (PARTITION BY thread ORDER BY turn) - 1 AS number, -- number of the turn, from 0
    ends, -- [ns] when its calls ended
    pass_ns, -- [ns] when the last backward pass before its end began
    pass_end_ns, -- [ns] and when that ended
    name -- class of the optimizer
FROM turns;

-- Turns of optimizers with what tells one from others: its class, or the line of the backward pass before it.
--
-- That line is seen where a sample or a blocked call lies in the pass, so of few turns where steps are short. Lines
-- tell turns apart where all that were seen agree with a place in a round of equally many turns, the shortest such. Up
-- to PyTorch's frames the innermost is the line that calls `backward`.
--
-- needs: _pass_turns, _thread_numbers, events, _stack_texts
CREATE TABLE _optimizer_turns AS
WITH
    constants AS (
        SELECT
            0.95 AS right_share, -- of turns whose line is the one of their place, at least
            4 AS least_seen, -- turns of each place whose line was seen, at least
            10 AS least_lines, -- turns whose line was seen, at least
            8 AS most_places -- of a round
    ),
    alike AS (
        SELECT thread
        FROM _pass_turns
        GROUP BY thread
        HAVING count(DISTINCT name) = 1
    ),
    callers AS (
        SELECT
            stack,
            regexp_extract(stack, '^(.*?);[^;]*/torch/(?:_tensor|autograd/(?:__init__|graph))\.py', 1) AS caller
        FROM _stack_texts
    ),
    seen AS (
        SELECT numbers.thread, events.ts_ns, callers.caller
        FROM events
        JOIN _thread_numbers AS numbers
            ON numbers.recording = events.recording
            AND numbers.pid = events.pid
            AND numbers.tid = events.tid
        SEMI JOIN alike ON alike.thread = numbers.thread
        JOIN callers ON callers.stack = events.stack
        WHERE events.stack IS NOT NULL AND callers.caller <> ''
    ),
    lines AS (
        SELECT turns.thread, turns.number, mode(seen.caller ORDER BY seen.caller) AS line
        FROM seen
        ASOF JOIN _pass_turns AS turns ON turns.thread = seen.thread AND turns.pass_ns <= seen.ts_ns
        WHERE seen.ts_ns < turns.pass_end_ns
        GROUP BY turns.thread, turns.number
    ),
    counts AS (
        SELECT
            lines.thread,
            lengths.places,
            lines.number % lengths.places AS place,
            lines.line,
            count(*) AS turns
        FROM lines
        CROSS JOIN (SELECT unnest(range(2, most_places + 1)) AS places FROM constants) AS lengths
        GROUP BY ALL
    ),
    places AS (
        SELECT
            thread,
            places,
            place,
            arg_max(line, (turns, line)) AS line,
            max(turns) AS agreeing,
            sum(turns) AS seen
        FROM counts
        GROUP BY thread, places, place
    ),
    rounds AS (
        SELECT thread, places
        FROM places
        GROUP BY thread, places
        HAVING count(DISTINCT line) > 1
            AND count(*) = places
            AND min(seen) >= (SELECT least_seen FROM constants)
            AND sum(seen) >= (SELECT least_lines FROM constants)
            AND sum(agreeing) >= (SELECT right_share FROM constants) * sum(seen)
        QUALIFY row_number() OVER (PARTITION BY thread ORDER BY places) = 1
    )
SELECT
    turns.thread, -- number of the training thread
    turns.number, -- number of the turn, from 0
    turns.ends, -- [ns] when its calls of `Optimizer.step` ended
    coalesce(places.line, turns.name) AS what, -- what tells it from turns of others: class of the optimizer, or frames
    lines.line AS seen_line -- frames of the backward pass, NULL where none were seen or classes differ
FROM _pass_turns AS turns
LEFT JOIN rounds ON rounds.thread = turns.thread
LEFT JOIN places
    ON places.thread = rounds.thread
    AND places.places = rounds.places
    AND places.place = turns.number % rounds.places
LEFT JOIN lines ON lines.thread = turns.thread AND lines.number = turns.number
