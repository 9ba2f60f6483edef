package io.dyber.zernel.analyze;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.format.RecordingException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// One row of evidence that something can be fixed.
///
/// @param name the finding, which is also the name of its SQL file
/// @param title one sentence that says what is wrong
/// @param subject whom it is about, e.g. `pid 4711`
/// @param value how much, in `unit`
/// @param unit unit of `value`
/// @param severity `high`, `medium` or `low`
/// @param lostMillisPerStep time lost per training step; null where the finding is not about time
/// @param maxSpeedup upper bound of what fixing it gains (Amdahl); null where unknown
/// @param evidence the measurements and the arithmetic
/// @param advice what to try
/// @param nextCommand a command that shows more
/// @param more columns that a user's finding has beyond these
/// @param lines lines of the job's code that hold its time, most first; empty where no stacks were recorded
public record Finding(
        String name,
        String title,
        String subject,
        @Nullable Double value,
        String unit,
        String severity,
        @Nullable Double lostMillisPerStep,
        @Nullable Double maxSpeedup,
        String evidence,
        String advice,
        String nextCommand,
        Map<String, @Nullable Object> more,
        List<FindingLine> lines) {

    /// What is shown of every finding, in this order.
    public static final List<String> COLUMNS = List.of(
            "subject",
            "value",
            "unit",
            "severity",
            "lost_ms_per_step",
            "max_speedup",
            "evidence",
            "advice",
            "next_command");

    /// What a finding may return besides: the least that can be lost, where `lost_ms_per_step` is in the middle of a range.
    private static final String LEAST_LOST = "least_lost_ms_per_step";

    /// The same: what the advice saves at least, where all that is lost is not sure.
    private static final String ADVICE_SAVES = "advice_saves_ms_per_step";

    /// The same: minutes until the job is killed, where that is soon.
    private static final String MINUTES_LEFT = "minutes_left";

    /// Facts that are no fact where they are NULL.
    private static final Set<String> OPTIONAL = Set.of(LEAST_LOST, ADVICE_SAVES, MINUTES_LEFT, "detailed_steps");

    /// Makes [#COLUMNS] of the facts that a query returns.
    private static final String SHOWN = SqlLibrary.finding();
    /// What a query returns at least: of each, one.
    private static final List<List<String>> FACTS = List.of(
            List.of("subject", "pid"),
            List.of("value", "part_ns"),
            List.of("severity", "lost_ns"),
            List.of("evidence"),
            List.of("advice"),
            List.of("next_command"));

    private static final String FASTER = "what its line says is faster";

    private static final List<String> NUMBERS = List.of("value", "lost_ms_per_step", "max_speedup");
    private static final List<String> SEVERITIES = List.of("high", "medium", "low");

    /// A job that stands still, and then one that is killed soon, before anything slow, then what is of low severity last, most time
    /// lost for certain first, then most severe: the order in which to fix things.
    public static final Comparator<Finding> WORST_FIRST = Comparator.comparing((Finding finding) -> !finding.isHang())
            .thenComparing(finding -> !finding.isKilledSoon())
            .thenComparing(finding -> finding.severity().equals("low"))
            .thenComparing(Comparator.comparingDouble(Finding::leastLostMillisPerStep).reversed())
            .thenComparingInt(finding -> SEVERITIES.indexOf(finding.severity()))
            .thenComparing(Finding::name)
            .thenComparing(Finding::subject);

    /// Runs one finding.
    ///
    /// @throws RecordingException if its SQL fails, or what it returns is not what it should be
    public static List<Finding> run(SqlObject object, Database database) {
        if (isSilent(object, database)) {
            return List.of();
        }
        Table facts = facts(object, database);
        Table table = isShown(facts) || facts.rows().isEmpty() ? facts : query(object, SHOWN, database);
        if (table.rows().isEmpty()) {
            return List.of();
        }
        List<String> names = names(table);
        FindingLines lines = new FindingLines(object, database);
        List<Finding> findings = new ArrayList<>();
        for (Table.Row row : table.rows()) {
            for (String column : NUMBERS) {
                Object value = row.value(column);
                require(value == null || value instanceof Number, object, "its " + column + " is '" + value + "', no number");
            }
            String severity = text(row, "severity");
            require(SEVERITIES.contains(severity), object, "its severity is '" + severity + "', not high, medium or low");
            findings.add(of(object, names, row, lines.of(row)));
        }
        return findings;
    }

    /// What the file's query returns, which is kept for [#SHOWN]: planning that with each query would cost more than most take.
    /// DuckDB counts lines from the query's first, so what stands before it is on the same.
    private static Table facts(SqlObject object, Database database) {
        Table _ = query(object, "CREATE OR REPLACE TEMP TABLE _finding AS " + object.statement(), database);
        Table facts = query(object, "FROM _finding", database);
        List<String> names = names(facts);
        if (isShown(facts)) {
            COLUMNS.forEach(column -> require(names.contains(column), object, "it has no column '" + column + "'"));
        } else {
            FACTS.forEach(either ->
                    require(either.stream().anyMatch(names::contains), object, "it has no column '" + either.getFirst() + "'"));
        }
        return facts;
    }

    /// Whether a query returns [#COLUMNS] itself, as one of a user's folder may.
    private static boolean isShown(Table facts) {
        return names(facts).contains("lost_ms_per_step");
    }

    private static List<String> names(Table table) {
        return table.columns().stream().map(Table.Column::name).toList();
    }

    private static boolean isSilent(SqlObject object, Database database) {
        try {
            return database.isSilent(object);
        } catch (RecordingException e) {
            throw object.failed("running finding", e);
        }
    }

    private static Table query(SqlObject object, String sql, Database database) {
        try {
            return database.query(object, sql);
        } catch (RecordingException e) {
            throw object.failed("running finding", e);
        }
    }

    private static void require(boolean right, SqlObject object, String wrong) {
        if (!right) {
            throw new RecordingException(
                    "running finding '" + object.name() + "' of " + object.origin() + ": " + wrong,
                    "a finding returns "
                            + FACTS.stream().map(either -> String.join(" or ", either)).collect(Collectors.joining(", ")));
        }
    }

    private static Finding of(SqlObject object, List<String> names, Table.Row row, List<FindingLine> lines) {
        Map<String, @Nullable Object> more = new LinkedHashMap<>();
        for (String name : names) {
            boolean shown = COLUMNS.contains(name) || FindingLines.OWNER.contains(name);
            if (!shown && !(OPTIONAL.contains(name) && row.value(name) == null)) {
                more.put(name, row.value(name));
            }
        }
        return new Finding(
                object.name(),
                object.title(),
                text(row, "subject"),
                row.real("value"),
                text(row, "unit"),
                text(row, "severity"),
                row.real("lost_ms_per_step"),
                row.real("max_speedup"),
                text(row, "evidence"),
                advice(text(row, "advice"), lines),
                text(row, "next_command"),
                more,
                lines);
    }

    /// Of what its lines call that has a faster way, where that is at least half of what one of its rules counts, that comes
    /// first: it makes less work, where other advice moves it elsewhere.
    private static String advice(String advice, List<FindingLine> lines) {
        Map<String, Double> shares = new LinkedHashMap<>();
        for (FindingLine line : lines) {
            if (line.faster() != null) {
                shares.merge(line.of(), line.share(), Double::sum);
            }
        }
        boolean leads = shares.values().stream().anyMatch(share -> share >= 0.5) && !advice.startsWith(FASTER);
        return leads ? FASTER + ", where that does the same; else " + advice : advice;
    }

    private static String text(Table.Row row, String column) {
        String text = row.text(column);
        return text == null ? "" : text;
    }

    /// Time lost per training step at least; the same as [#lostMillisPerStep] where that is no range, 0 where the finding is
    /// not about time.
    public double leastLostMillisPerStep() {
        if (more.get(LEAST_LOST) instanceof Number least) {
            return least.doubleValue();
        }
        return lostMillisPerStep == null ? 0 : lostMillisPerStep;
    }

    /// Whether it says that the job stands still.
    public boolean isHang() {
        return name.equals("hang");
    }

    /// Whether the job is killed soon if nothing is done, so that no faster step helps it.
    public boolean isKilledSoon() {
        return more.get(MINUTES_LEFT) instanceof Number;
    }

    /// What the advice saves of a step at least, in milliseconds; the same as [#leastLostMillisPerStep] where the finding does not
    /// tell the two apart.
    public double savedByAdviceMillisPerStep() {
        return more.get(ADVICE_SAVES) instanceof Number saves ? saves.doubleValue() : leastLostMillisPerStep();
    }
}
