package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.recording.Recording;
import io.dyber.zernel.analyze.report.table.Quantity;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// A diff in words and in tables whose numbers have units, for every form that people read.
final class DiffTables {
    private static final String NUMBER = "DOUBLE";
    private static final String TEXT = "VARCHAR";
    private static final double MANIFOLD = 9;

    private DiffTables() {}

    /// Whether a column of one of these tables has numbers.
    static boolean isNumber(Table.Column column) {
        return column.type().equals(NUMBER);
    }

    /// What was compared: files, and how many steps.
    static String side(List<Recording> recordings, Table steps, String column) {
        String first = recordings.getFirst().path().toString();
        String more = recordings.size() > 1 ? " and " + (recordings.size() - 1) + " more" : "";
        String count = steps.rows().isEmpty() ? "" : ", " + Quantity.count(steps.only().integer(column)) + " steps compared";
        return first + more + count;
    }

    /// The answer in one sentence.
    static String verdict(Table steps) {
        Optional<Table.Row> step =
                steps.rows().stream().filter(row -> row.requiredText("measure").equals("step")).findFirst();
        if (step.isEmpty()) {
            return "One of the two has fewer than three steps: only rates can be compared.";
        }
        Table.Row row = step.get();
        String numbers = "%s -> %s at the median, 95 %% interval of the change %s, p %s. Mean %s -> %s".formatted(
                Quantity.time(real(row, "before_p50")),
                Quantity.time(real(row, "after_p50")),
                interval(row, "low", "high"),
                probability(real(row, "p_value")),
                Quantity.time(real(row, "before_mean")),
                Quantity.time(real(row, "after_mean")));
        return switch (row.requiredText("verdict")) {
            case "more" -> "Steps are slower by " + change(row) + ": " + numbers + ".";
            case "less" -> "Steps are faster by " + change(row) + ": " + numbers + ".";
            default -> "No significant difference of most steps (p >= 0.01): " + numbers + mean(row) + ".";
        };
    }

    /// What few steps do to the mean, where most are alike.
    private static String mean(Table.Row row) {
        double low = real(row, "mean_low");
        double high = real(row, "mean_high");
        if (low <= 0 && high >= 0) {
            return "";
        }
        String length = low > 0 ? "longer" : "shorter";
        return ", 95 % interval of the change " + interval(row, "mean_low", "mean_high") + ": some are much " + length;
    }

    /// The measures of a step.
    static Table steps(Table steps) {
        List<Table.Row> rows = new ArrayList<>();
        for (Table.Row row : steps.rows()) {
            String unit = row.requiredText("unit");
            rows.add(row(
                    row.requiredText("measure"),
                    amount(real(row, "before_p50"), unit),
                    amount(real(row, "after_p50"), unit),
                    signed(real(row, "shift"), unit),
                    percent(row.real("shift_share")),
                    interval(row, "low", "high"),
                    probability(real(row, "p_value")),
                    row.requiredText("verdict")));
        }
        return new Table(
                List.of(
                        new Table.Column("per step", TEXT),
                        new Table.Column("median", NUMBER),
                        new Table.Column("after", NUMBER),
                        new Table.Column("change", NUMBER),
                        new Table.Column("", NUMBER),
                        new Table.Column("95 % interval", NUMBER),
                        new Table.Column("p", NUMBER),
                        new Table.Column("verdict", TEXT)),
                rows);
    }

    /// What the column `change` is, where it is not the ratio of the two medians next to it.
    static Optional<String> explanation(Table steps) {
        boolean reckoned = steps.rows().stream().allMatch(row -> {
            String unit = row.requiredText("unit");
            double difference = real(row, "after_p50") - real(row, "before_p50");
            return signed(real(row, "shift"), unit).equals(signed(difference, unit));
        });
        return reckoned
                ? Optional.empty()
                : Optional.of("change: the median of the differences between every step before and every step after, which the"
                        + " interval and p are of (Hodges-Lehmann); not the difference of the two medians");
    }

    /// Kinds and names, the most changed first.
    static Table calls(Table calls, int most) {
        List<Table.Row> rows = new ArrayList<>();
        String per = calls.rows().isEmpty() ? "step" : calls.only().requiredText("per");
        for (Table.Row row : calls.rows().subList(0, Math.min(most, calls.rows().size()))) {
            String name = row.text("name");
            rows.add(row(
                    row.requiredText("kind") + (name == null ? " (all)" : ""),
                    name == null ? "" : name,
                    rate(real(row, "before_calls")),
                    rate(real(row, "after_calls")),
                    Quantity.time(real(row, "before_ns")),
                    Quantity.time(real(row, "after_ns")),
                    signed(real(row, "change_ns"), "ns"),
                    row.isNull("before_p50_ns") ? "" : Quantity.time(row.integer("before_p50_ns")),
                    row.isNull("after_p50_ns") ? "" : Quantity.time(row.integer("after_p50_ns"))));
        }
        return new Table(
                List.of(
                        new Table.Column("kind", TEXT),
                        new Table.Column("name", TEXT),
                        new Table.Column("calls/" + per, NUMBER),
                        new Table.Column("after", NUMBER),
                        new Table.Column("time/" + per, NUMBER),
                        new Table.Column("after", NUMBER),
                        new Table.Column("change", NUMBER),
                        new Table.Column("p50", NUMBER),
                        new Table.Column("after", NUMBER)),
                rows);
    }

    /// The lines whose time changed most.
    static Table lines(Table lines, int most) {
        List<Table.Row> rows = new ArrayList<>();
        String per = lines.only().requiredText("per");
        for (Table.Row row : lines.rows().subList(0, Math.min(most, lines.rows().size()))) {
            rows.add(row(
                    row.requiredText("line"),
                    row.requiredText("state"),
                    Quantity.time(real(row, "before_ns")),
                    Quantity.time(real(row, "after_ns")),
                    signed(real(row, "change_ns"), "ns")));
        }
        return new Table(
                List.of(
                        new Table.Column("line", TEXT),
                        new Table.Column("state", TEXT),
                        new Table.Column("time/" + per, NUMBER),
                        new Table.Column("after", NUMBER),
                        new Table.Column("change", NUMBER)),
                rows);
    }

    private static Table.Row row(@Nullable Object... cells) {
        return new Table.Row(java.util.Map.of(), Arrays.asList(cells));
    }

    private static double real(Table.Row row, String column) {
        Double value = row.real(column);
        return value == null ? 0 : value;
    }

    private static String change(Table.Row row) {
        String share = percent(row.real("shift_share"));
        String amount = amount(Math.abs(real(row, "shift")), row.requiredText("unit"));
        return share.isEmpty() ? amount : amount + " (" + share + ")";
    }

    private static String interval(Table.Row row, String low, String high) {
        String unit = row.requiredText("unit");
        return signed(real(row, low), unit) + " to " + signed(real(row, high), unit);
    }

    private static String signed(double value, String unit) {
        return (value < 0 ? "-" : "+") + amount(Math.abs(value), unit);
    }

    private static String amount(double value, String unit) {
        return switch (unit) {
            case "ns" -> Quantity.time(value);
            case "bytes" -> Quantity.size(value);
            default -> Quantity.count(Math.round(value));
        };
    }

    private static String rate(double value) {
        return value >= 100 ? Quantity.count(Math.round(value)) : String.format(Locale.ROOT, "%.3g", value);
    }

    private static String percent(@Nullable Double share) {
        if (share == null) {
            return "";
        }
        return share >= MANIFOLD
                ? String.format(Locale.ROOT, "x %.0f", 1 + share)
                : String.format(Locale.ROOT, "%+.1f %%", 100 * share);
    }

    private static String probability(double p) {
        return p < 0.001 ? "< 0.001" : String.format(Locale.ROOT, "%.3f", p);
    }
}
