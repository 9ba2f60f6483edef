package io.dyber.zernel.analyze.sql;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Which lines of the job's code hold what a finding tells of: a header line `lines: WHAT WHERE CONDITION` or
/// `lines: WHAT BY AMOUNT WHERE CONDITION`, on the rows of the view `line_times`. With `OF CAUSE` before `WHERE` it is only for
/// rows of the finding that have this `cause`.
///
/// @param of what the lines hold shares of, as in a sentence: `the waits`
/// @param amount an expression that is added up for each line: nanoseconds, unless the finding is about something else
/// @param cause of the finding's rows that it is for; empty: for all
/// @param condition which rows
public record LineRule(String of, String amount, Optional<String> cause, String condition) {
    /// Of the time of a call, which a finding tells of: then the call says what takes it.
    private static final double LITTLE_ELSE = 0.8;

    private static final Pattern FORM = Pattern.compile("(.+?)(?: BY (.+?))?(?: OF (.+?))? WHERE (.+)");

    /// Those of a finding; none where its header has no such line.
    ///
    /// @throws IllegalArgumentException if one has no WHERE
    public static List<LineRule> of(SqlObject object) {
        return object.keys().getOrDefault("lines", "").lines().map(LineRule::parse).toList();
    }

    private static LineRule parse(String text) {
        Matcher form = FORM.matcher(text);
        if (!form.matches()) {
            throw new IllegalArgumentException("'lines: " + text + "' has no WHERE");
        }
        String amount = form.group(2);
        return new LineRule(form.group(1), amount == null ? "ns" : amount, Optional.ofNullable(form.group(3)), form.group(4));
    }

    /// The amounts by thread and line, of the processes that train, most first; where other threads and data workers belong to
    /// them, `tid` is NULL.
    ///
    /// A call that does much else too, or calls another package, may not say what takes the time, as one that trains: `inner` is
    /// then the innermost function of packages in which most of it is. `faster` is what is faster than `faster_amount` of it:
    /// not of waits on a socket, which no other call shortens.
    public String sql() {
        return """
                WITH
                    rows AS (
                        SELECT recording, train_pid AS pid, CASE WHEN thread = 'training' THEN tid END AS tid, line, called, id, ns,
                            %1$s AS amount, (%2$s) IS TRUE AS told, state
                        FROM line_times
                    ),
                    stacks AS (
                        SELECT recording, pid, tid, line, called, id, CAST(sum(amount) FILTER (told) AS DOUBLE) AS amount,
                            sum(amount) FILTER (told AND state IS DISTINCT FROM 'socket') AS own_amount, count(*) FILTER (told) AS count, coalesce(sum(ns) FILTER (told), 0) AS told_ns, sum(ns) AS ns
                        FROM rows
                        GROUP BY ALL
                    ),
                    calls AS (
                        SELECT recording, pid, tid, line, called, sum(amount) AS amount, CAST(sum(count) AS BIGINT) AS count,
                            sum(told_ns) >= %3$s * sum(ns) AS little_else
                        FROM stacks
                        GROUP BY ALL
                        HAVING sum(count) > 0
                    ),
                    inside AS (
                        SELECT stacks.recording, stacks.pid, stacks.tid, stacks.line, stacks.called, inside.function,
                            any_value(inside.module) AS module, any_value(direct.module) AS direct,
                            sum(stacks.amount) AS amount, avg(inside.depth) AS depth
                        FROM stacks
                        JOIN line_calls AS inside ON inside.id = stacks.id
                        JOIN line_calls AS direct ON direct.id = stacks.id AND direct.function = stacks.called
                        WHERE stacks.count > 0 AND inside.module NOT IN ('python', 'generated')
                        GROUP BY ALL
                    ),
                    ways AS (
                        SELECT stacks.recording, stacks.pid, stacks.tid, stacks.line, stacks.called, ways.instead,
                            sum(stacks.own_amount) AS amount
                        FROM stacks
                        JOIN faster_ways AS ways ON ways.id = stacks.id
                        WHERE stacks.count > 0
                        GROUP BY ALL
                    ),
                    fastest AS (
                        SELECT recording, pid, tid, line, called, arg_max(instead, (amount, instead)) AS instead, max(amount) AS amount
                        FROM ways
                        GROUP BY recording, pid, tid, line, called
                    )
                SELECT calls.recording, calls.pid, calls.tid, calls.line, calls.called, calls.amount, calls.count,
                    arg_max(inside.function, (inside.depth, inside.function)) AS inner,
                    any_value(fastest.instead) AS faster, any_value(fastest.amount) AS faster_amount
                FROM calls
                LEFT JOIN inside
                    ON inside.recording = calls.recording AND inside.pid = calls.pid
                    AND inside.tid IS NOT DISTINCT FROM calls.tid
                    AND inside.line = calls.line AND inside.called = calls.called AND inside.function <> calls.called
                    AND is_most(inside.amount, calls.amount)
                    AND (
                        inside.module <> inside.direct
                        OR (NOT calls.little_else AND inside.module <> 'torch')
                        OR _only_calls_parts(calls.called)
                    )
                LEFT JOIN fastest
                    ON fastest.recording = calls.recording AND fastest.pid = calls.pid
                    AND fastest.tid IS NOT DISTINCT FROM calls.tid
                    AND fastest.line = calls.line AND fastest.called IS NOT DISTINCT FROM calls.called
                GROUP BY ALL
                ORDER BY calls.amount DESC
                """
                .formatted(amount, condition, LITTLE_ELSE);
    }
}
