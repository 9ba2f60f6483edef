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

    /// The amounts by thread and line, of the processes that train; where other threads and data workers belong to them,
    /// `tid` is NULL.
    public String sql() {
        return """
                SELECT recording, train_pid AS pid, CASE WHEN thread = 'training' THEN tid END AS tid, line, called,
                    CAST(sum(%s) AS DOUBLE) AS amount, count(*) AS count
                FROM line_times
                WHERE %s
                GROUP BY ALL
                """
                .formatted(amount, condition);
    }
}
