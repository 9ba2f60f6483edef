-- In which lines training threads spend their steps, most time first: on a CPU by samples, and blocked.
--
-- Steps of kind train. What a line calls is the call that holds most of its time in calls. A line that is reached from
-- several of the user's own, as a module that a teacher and a student have, is told by these. Of a call that is all of
-- its line, as one that trains, it is told what it does below the functions in which all of it is.
--
-- needs: line_times, step_mean, stack_lines, _own_frames, line_calls
CREATE VIEW step_lines AS
WITH
    constants AS (
        SELECT
            0.9 AS as_good_as_all, -- of a line's time, in one call, or from one line that leads to it
            0.1 AS worth_a_word, -- the same, less of which says nothing
            0.8 AS trunk_share, -- the same, in a function that a call leads to, which then says as little as the call
            0.15 AS branch_share -- the same, in one that is worth a word
    ),
    times AS (
        SELECT recording, pid, tid, id, line, called, own, sum(ns) AS ns, count(*) AS events
        FROM line_times
        WHERE thread = 'training' AND step_kind = 'train'
        GROUP BY ALL
    ),
    called_from AS (
        SELECT
            times.recording,
            times.pid,
            times.tid,
            times.id,
            times.line,
            frames.line AS caller,
            frames.called,
            sum(times.ns) OVER (PARTITION BY times.recording, times.pid, times.tid, times.line, frames.line)
                AS caller_ns,
            sum(times.ns) OVER (PARTITION BY times.recording, times.pid, times.tid, times.line) AS line_ns
        FROM times
        JOIN stack_lines AS lines ON lines.id = times.id AND lines.line = times.line
        JOIN _own_frames AS frames ON frames.id = times.id AND frames.depth = 2 AND frames.line <> times.line
    ),
    several AS (
        SELECT recording, pid, tid, line
        FROM called_from
        CROSS JOIN constants
        GROUP BY recording, pid, tid, line
        HAVING max(caller_ns) < any_value(constants.as_good_as_all) * any_value(line_ns)
    ),
    calls AS (
        SELECT
            times.recording,
            times.pid,
            times.tid,
            coalesce(callers.caller, times.line) AS line,
            CASE WHEN callers.caller IS NULL THEN times.called ELSE callers.called END AS called,
            times.id,
            times.own,
            sum(times.ns) AS ns,
            sum(times.events) AS events
        FROM times
        LEFT JOIN (
            SELECT DISTINCT recording, pid, tid, id, line, caller, called
            FROM called_from
            SEMI JOIN several USING (recording, pid, tid, line)
        ) AS callers
            ON callers.recording = times.recording
            AND callers.pid = times.pid
            AND callers.tid = times.tid
            AND callers.id = times.id
            AND callers.line = times.line
        GROUP BY ALL
    ),
    lines AS (
        SELECT
            recording,
            pid,
            tid,
            line,
            bool_or(own) AS own,
            arg_max(called, (ns, called)) AS called,
            coalesce(max(ns) FILTER (called IS NOT NULL), 0) AS called_ns,
            sum(ns) AS ns,
            sum(events) AS events
        FROM (
            SELECT recording, pid, tid, line, called, bool_or(own) AS own, sum(ns) AS ns, sum(events) AS events
            FROM calls
            GROUP BY recording, pid, tid, line, called
        )
        GROUP BY recording, pid, tid, line
    ),
    -- Functions in which most of the time of a line is are its trunk; the first ones beyond are the branches.
    functions AS (
        SELECT
            stacks.recording,
            stacks.pid,
            stacks.tid,
            stacks.line,
            stacks.id,
            stacks.ns,
            inside.function,
            inside.depth,
            sum(stacks.ns) OVER (PARTITION BY stacks.recording, stacks.pid, stacks.tid, stacks.line, inside.function)
                >= constants.trunk_share * lines.ns AS trunk,
            lines.ns AS line_ns
        FROM (SELECT recording, pid, tid, line, id, sum(ns) AS ns FROM calls GROUP BY ALL) AS stacks
        CROSS JOIN constants
        JOIN lines
            ON lines.recording = stacks.recording
            AND lines.pid = stacks.pid
            AND lines.tid = stacks.tid
            AND lines.line = stacks.line
        JOIN line_calls AS inside ON inside.id = stacks.id
        WHERE lines.called_ns >= constants.as_good_as_all * lines.ns
    ),
    firsts AS (
        SELECT
            recording,
            pid,
            tid,
            line,
            any_value(ns) AS ns,
            any_value(line_ns) AS line_ns,
            arg_min(function, (depth, function)) AS function
        FROM (
            SELECT *, max(depth) FILTER (trunk) OVER (PARTITION BY recording, pid, tid, line, id) AS trunk_depth
            FROM functions
        )
        WHERE NOT trunk AND depth > trunk_depth
        GROUP BY recording, pid, tid, line, id
    ),
    branches AS (
        SELECT recording, pid, tid, line, function, sum(ns) / any_value(line_ns) AS share
        FROM firsts
        GROUP BY recording, pid, tid, line, function
    ),
    branched AS (
        SELECT
            recording,
            pid,
            tid,
            line,
            string_agg(format('{} in {}', pct(share), function), ', ' ORDER BY share DESC, function) AS text
        FROM branches
        CROSS JOIN constants
        WHERE share >= constants.branch_share
        GROUP BY recording, pid, tid, line
    )
SELECT
    lines.recording, -- recording
    lines.pid, -- process
    lines.tid, -- training thread
    lines.line, -- where: `train.py:88 log_loss`
    lines.called, -- what it called longest; NULL where the thread was in the line itself all along
    lines.own, -- whether the line is of the user's own code
    CAST(lines.events AS BIGINT) AS events, -- samples and calls that this rests on
    lines.ns / step_mean.steps AS line_ns, -- [ns] of a mean step in that line
    least(lines.ns / step_mean.steps / step_mean.step_ns, 1) AS share, -- of a mean step, 0 to 1
    CASE
        WHEN lines.called_ns >= constants.as_good_as_all * lines.ns
            THEN concat_ws(' -> ', lines.line, lines.called) || coalesce(format(' (of it {})', branched.text), '')
        WHEN lines.called_ns >= constants.worth_a_word * lines.ns
            THEN concat(lines.line, format(' ({} of it in {})', pct(lines.called_ns / lines.ns), lines.called))
        ELSE lines.line
    END AS place -- the line and what it called, in one text, with its share where that is not all
FROM lines
CROSS JOIN constants
JOIN step_mean
    ON step_mean.recording = lines.recording
    AND step_mean.pid = lines.pid
    AND step_mean.tid = lines.tid
LEFT JOIN branched
    ON branched.recording = lines.recording
    AND branched.pid = lines.pid
    AND branched.tid = lines.tid
    AND branched.line = lines.line
ORDER BY lines.recording, lines.pid, lines.tid, lines.ns DESC, lines.line
