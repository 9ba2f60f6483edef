-- In which lines training threads spend their steps, most time first: on a CPU by samples, and blocked.
--
-- Steps of kind train. What a line calls is the call that holds most of its time in calls.
--
-- needs: line_times, step_mean
CREATE VIEW step_lines AS
WITH
    constants AS (
        SELECT
            0.9 AS as_good_as_all, -- of a line's time, in one call
            0.1 AS worth_a_word -- the same, less of which says nothing
    ),
    calls AS (
        SELECT recording, pid, tid, line, called, own, sum(ns) AS ns, count(*) AS events
        FROM line_times
        WHERE thread = 'training' AND step_kind = 'train'
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
        FROM calls
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
        WHEN lines.called_ns >= constants.as_good_as_all * lines.ns THEN concat_ws(' -> ', lines.line, lines.called)
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
ORDER BY lines.recording, lines.pid, lines.tid, lines.ns DESC, lines.line
