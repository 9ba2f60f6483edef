package io.dyber.zernel.serve.analysis;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.duckdb.Table;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A line of the job's code, and the time that it held: blocked calls and samples, of all threads but those that wait for work.
///
/// @param line `train.py:88 log_loss`
/// @param state on-cpu, gpu, collective, gc, or what was waited for
/// @param calls what that called for most of it; null where the thread was in the line itself
/// @param share of all such time whose stack is known, 0 to 1
/// @param totalMs milliseconds in the training steps of the recording
public record TopLine(String line, String state, @Nullable String calls, double share, double totalMs) {
    private static final String MOST_TIME = """
            SELECT
                line,
                state,
                arg_max(called, total_ns) AS called,
                sum(total_ns) / sum(sum(total_ns)) OVER () AS share,
                sum(total_ns) / 1e6 AS total_ms
            FROM (
                SELECT
                    line,
                    state,
                    coalesce(called, CASE WHEN kind <> 'sample' THEN name END, library) AS called,
                    sum(total_ns) AS total_ns
                FROM training_stack_times
                JOIN stack_lines USING (id)
                WHERE NOT idle
                GROUP BY ALL
            )
            GROUP BY line, state
            ORDER BY total_ms DESC, line, state
            LIMIT 10
            """;

    /// Those of a recording with most time, most first; none where it has no stacks.
    static List<TopLine> of(Database database) {
        return database.hasStacks()
                ? database.query(MOST_TIME).rows().stream().map(TopLine::of).toList()
                : List.of();
    }

    private static TopLine of(Table.Row row) {
        return new TopLine(
                row.requiredText("line"),
                row.requiredText("state"),
                row.text("called"),
                Objects.requireNonNullElse(row.real("share"), 0.0),
                Objects.requireNonNullElse(row.real("total_ms"), 0.0));
    }
}
