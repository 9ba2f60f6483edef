package io.dyber.zernel.analyze.report.text;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.table.Page;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/// Percentiles, grouped by kind, because a kind decides what its durations mean.
record DurationsText(Page page) {
    private static final int MOST_NAMES = 12;
    /// Calls without an end, as a share of those with one, of which nothing is said: they were under way at the end.
    private static final double LEAST_OPEN = 0.05;
    private static final Map<String, String> HEADS = heads();

    void write(Table percentiles) {
        List<String> columns = columns();
        int names = page.width() - 2 - 10 * columns.size();
        StringBuilder head = new StringBuilder(pad("Durations", names + 2));
        for (String column : columns) {
            head.append(String.format(Locale.ROOT, " %9s", HEADS.get(column)));
        }
        page.heading(head.toString());
        if (percentiles.rows().stream().anyMatch(row -> Objects.requireNonNull(row.real("error")) > 0)) {
            page.line(page.dim("percentiles are of a histogram, within 1 %: more --memory makes them exact"));
        }
        Map<String, List<Table.Row>> kinds = new LinkedHashMap<>();
        for (Table.Row row : percentiles.rows()) {
            kinds.computeIfAbsent(row.requiredText("kind"), _ -> new ArrayList<>()).add(row);
        }
        kinds.forEach((kind, rows) -> kind(kind, rows, columns, names));
    }

    private void kind(String kind, List<Table.Row> rows, List<String> columns, int names) {
        String meaning =
                switch (rows.getFirst().requiredText("time")) {
                    case "blocked" ->
                        "thread time blocked in the call" + (kind.equals("wait") ? ", also of threads that wait for work" : "");
                    case "enqueue" -> "time of the call that hands work to the GPU";
                    case "off-cpu" -> "time threads were off their CPU, also those that wait for work";
                    case "gpu" -> "GPU execution time";
                    default -> "wall time of the call on the CPU side";
                };
        page.paragraph("", kind + page.dim(", " + meaning + part(rows)));
        for (Table.Row row : rows.subList(0, Math.min(MOST_NAMES, rows.size()))) {
            StringBuilder line = new StringBuilder("  ");
            line.append(pad(page.fit(String.valueOf(row.text("name")), names), names));
            for (String column : columns) {
                line.append(String.format(Locale.ROOT, " %9s", value(row, column)));
            }
            page.line(line.toString());
        }
        if (rows.size() > MOST_NAMES) {
            page.line("  and " + (rows.size() - MOST_NAMES) + " more names: zernel-analyze percentiles --kind " + kind);
        }
    }

    /// What the numbers are of, where that is not all that happened.
    private static String part(List<Table.Row> rows) {
        long timed = rows.stream().mapToLong(row -> row.integer("count")).sum();
        long open = rows.stream().mapToLong(row -> row.integer("unfinished")).sum();
        Double share = rows.getFirst().real("time_share");
        return (open < LEAST_OPEN * timed
                        ? ""
                        : "; the end of " + Quantity.count(timed) + " of " + Quantity.count(timed + open)
                                + " calls was recorded")
                + (share == null || share >= 1 ? "" : "; recorded in " + Quantity.percent(share) + " of the time");
    }

    private static String value(Table.Row row, String column) {
        return column.equals("count") ? Quantity.count(row.integer(column)) : Quantity.time(row.integer(column));
    }

    private List<String> columns() {
        List<String> columns = new ArrayList<>(List.of("count", "sum_ns", "p50_ns", "p99_ns", "max_ns"));
        if (page.width() >= 100) {
            columns.add(3, "p90_ns");
        }
        if (page.width() >= 110) {
            columns.add(5, "p999_ns");
        }
        if (page.width() >= 120) {
            columns.add(2, "min_ns");
        }
        return columns;
    }

    private static Map<String, String> heads() {
        return Map.of(
                "count", "count", "sum_ns", "total", "min_ns", "min", "p50_ns", "p50", "p90_ns", "p90", "p99_ns",
                "p99", "p999_ns", "p99.9", "max_ns", "max");
    }

    private static String pad(String text, int columns) {
        return text + " ".repeat(Math.max(0, columns - text.length()));
    }
}
