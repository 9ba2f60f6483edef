package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What a verdict says of the lines in which most time goes by, where no finding does.
///
/// @param sentence the longest line of a process without steps
/// @param others those that follow, and what is not known of them; ends with a space where it is not empty
/// @param mayBeIdle whether the process may have nothing to do there
record LongestLines(String sentence, String others, boolean mayBeIdle) {
    /// Of the time of a thread without steps, in one line: less does not say where its time goes.
    private static final double MUCH_TIME = 0.25;

    /// Lines that take less of the time are not told.
    private static final double SHOWN_SHARE = 0.05;

    /// Of a step in one line: less is not worth a word where nothing is wrong.
    private static final double LINE_SHARE = 0.1;

    /// Samples and calls in steps, with which their lines have shares.
    private static final int MANY_EVENTS = 30;

    private static final int MOST = 4;

    /// Of the time of a function, from which on a line is as good as all of it.
    private static final double ALL = 0.9;

    /// What a thread may wait for because it has nothing to do.
    private static final Set<String> MAY_BE_IDLE = Set.of("thread", "process", "socket", "pipe", "events", "asleep", "unexplained");

    /// Those of the first process without steps, where its stacks tell them: functions of the user's own with their lines, or
    /// lines.
    static Optional<LongestLines> withoutSteps(Report report) {
        Map<String, List<Table.Row>> parts = ofFirstThread(report, "lines_without_steps")
                .filter(row -> Double.parseDouble(row.requiredText("part_share")) >= SHOWN_SHARE)
                .collect(Collectors.groupingBy(LongestLines::part, LinkedHashMap::new, Collectors.toList()));
        if (parts.isEmpty()) {
            return Optional.empty();
        }
        List<Table.Row> longest = parts.values().iterator().next();
        Table.Row first = longest.getFirst();
        if (partShare(first) < MUCH_TIME) {
            return Optional.empty();
        }
        long threads = first.integer("threads");
        String who = threads == 1
                ? "pid %d spends".formatted(first.integer("pid"))
                : "%d threads of pid %d spend".formatted(threads, first.integer("pid"));
        String next = parts.values().stream()
                .skip(1)
                .limit(MOST - 1)
                .map(List::getFirst)
                .map(LongestLines::briefly)
                .collect(Collectors.joining("; "));
        boolean mayBeIdle = MAY_BE_IDLE.contains(first.requiredText("state"));
        return Optional.of(new LongestLines(
                "No steps were seen; " + who + " " + Quantity.percent(partShare(first)) + " of " + (threads == 1 ? "" : "their ")
                        + Quantity.time(first.integer("wall_ns")) + " in " + inPart(longest) + ".",
                (next.isEmpty() ? "" : "Next most: " + next + ". ")
                        + (mayBeIdle
                                ? "Whether that waits for work that is not there, or keeps work waiting, nothing says. "
                                : ""),
                mayBeIdle));
    }

    /// All of it, in one text.
    String text() {
        return (sentence + " " + others).strip();
    }

    /// A part in few words: how only where its longest line is as good as all of it.
    private static String briefly(Table.Row first) {
        boolean all = share(first) >= ALL * partShare(first);
        return (all ? first.requiredText("place") : part(first)) + ": " + Quantity.percent(partShare(first))
                + (all ? ", " + first.requiredText("doing") : "");
    }

    /// Where and how, of one line; of several, the function first and then each line with all that it does.
    private static String inPart(List<Table.Row> rows) {
        Table.Row first = rows.getFirst();
        if (share(first) >= ALL * partShare(first)) {
            return first.requiredText("place") + ", " + first.requiredText("doing");
        }
        Map<String, List<Table.Row>> places = Stream.concat(
                        Stream.of(first), rows.stream().skip(1).filter(row -> share(row) >= SHOWN_SHARE))
                .limit(MOST)
                .collect(Collectors.groupingBy(LongestLines::placeInPart, LinkedHashMap::new, Collectors.toList()));
        double rest = partShare(first)
                - places.values().stream().flatMap(List::stream).mapToDouble(LongestLines::share).sum();
        return part(first) + ": " + places.entrySet().stream()
                .map(place -> place.getKey() + ": " + place.getValue().stream()
                        .map(row -> Quantity.percent(share(row)) + " " + row.requiredText("doing"))
                        .collect(Collectors.joining(", ")))
                .collect(Collectors.joining("; "))
                + (rest >= SHOWN_SHARE ? "; the rest of it: " + Quantity.percent(rest) : "");
    }

    /// The place without what its part says already.
    private static String placeInPart(Table.Row row) {
        String place = row.requiredText("place");
        String part = part(row);
        if (place.equals(part)) {
            return "itself";
        }
        return place.startsWith(part + " -> ") ? place.substring(part.length() + 4) : place;
    }

    /// The function of the user's own that rows are told together by, or the line.
    private static String part(Table.Row row) {
        return row.requiredText("part");
    }

    private static double partShare(Table.Row row) {
        return Double.parseDouble(row.requiredText("part_share"));
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
