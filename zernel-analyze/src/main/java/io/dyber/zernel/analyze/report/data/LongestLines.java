package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What a verdict says of the lines in which most time goes by, where no finding does.
///
/// @param sentence the longest line of a process without steps
/// @param others those that follow, and what is not known of them; ends with a space where it is not empty
record LongestLines(String sentence, String others) {
    /// Of the time of a thread without steps, in one line: less does not say where its time goes.
    private static final double MUCH_TIME = 0.25;

    /// Lines that take less of the time are not told.
    private static final double SHOWN_SHARE = 0.05;

    /// Of a step in one line: less is not worth a word where nothing is wrong.
    private static final double LINE_SHARE = 0.1;

    /// Samples and calls in steps, with which their lines have shares.
    private static final int MANY_EVENTS = 30;

    private static final int MOST = 4;

    /// Those of the first process without steps, where its stacks tell them.
    static Optional<LongestLines> withoutSteps(Report report) {
        List<Table.Row> longest = ofFirstThread(report, "lines_without_steps")
                .filter(row -> share(row) >= SHOWN_SHARE)
                .limit(MOST)
                .toList();
        if (longest.isEmpty() || share(longest.getFirst()) < MUCH_TIME) {
            return Optional.empty();
        }
        Table.Row first = longest.getFirst();
        String next = longest.stream()
                .skip(1)
                .map(row -> place(row) + ", " + row.requiredText("doing"))
                .collect(Collectors.joining("; "));
        boolean waits = !first.requiredText("state").equals("on-cpu");
        return Optional.of(new LongestLines(
                "No steps were seen; pid " + first.integer("pid") + " spends " + Quantity.percent(share(first)) + " of "
                        + Quantity.time(first.integer("wall_ns")) + " in " + first.requiredText("place") + ", "
                        + first.requiredText("doing") + ".",
                (next.isEmpty() ? "" : "Next most: " + next + ". ")
                        + (waits ? "Whether that waits for work that is not there, or keeps work waiting, nothing says. " : "")));
    }

    /// Those of the steps of the first training thread, after a space; empty where too few samples tell.
    static String ofSteps(Report report) {
        List<Table.Row> lines = ofFirstThread(report, "step_lines").toList();
        String longest = lines.stream()
                .filter(row -> share(row) >= LINE_SHARE)
                .limit(MOST)
                .map(LongestLines::place)
                .collect(Collectors.joining("; "));
        boolean enough = lines.stream().mapToLong(row -> row.integer("events")).sum() >= MANY_EVENTS;
        return enough && !longest.isEmpty() ? " The longest lines of a step are " + longest + "." : "";
    }

    private static Stream<Table.Row> ofFirstThread(Report report, String section) {
        Table table = report.sections().get(section);
        if (table == null || table.rows().isEmpty()) {
            return Stream.empty();
        }
        Table.Row first = table.rows().getFirst();
        return table.rows().stream()
                .filter(row -> Stream.of("recording", "pid", "tid").allMatch(column -> row.integer(column) == first.integer(column)));
    }

    private static double share(Table.Row row) {
        return Double.parseDouble(row.requiredText("share"));
    }

    private static String place(Table.Row row) {
        return row.requiredText("place") + ": " + Quantity.percent(share(row));
    }
}
