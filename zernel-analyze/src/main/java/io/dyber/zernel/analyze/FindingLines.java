package io.dyber.zernel.analyze;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.sql.LineRule;
import io.dyber.zernel.analyze.sql.SqlObject;
import io.dyber.zernel.format.RecordingException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Which lines hold the time of a finding, by the [LineRule]s of its header.
final class FindingLines {
    /// Lines of a rule that are told.
    private static final int MOST = 20;

    /// Whom a row of a finding is about, where it says that: columns of `sql/finding.sql`.
    static final List<String> OWNER = List.of("_recording", "_pid", "_tid");

    private final List<LineRule> rules;
    private final List<Table> amounts = new ArrayList<>();

    /// @throws RecordingException if a rule's SQL fails
    FindingLines(SqlObject finding, Database database) {
        this.rules = database.hasStacks() ? LineRule.of(finding) : List.of();
        for (LineRule rule : rules) {
            try {
                amounts.add(database.query(rule.sql()));
            } catch (RecordingException e) {
                throw finding.failed("reading the lines of finding", e);
            }
        }
    }

    /// Those of one row, rule by rule, most first.
    List<FindingLine> of(Table.Row finding) {
        List<FindingLine> lines = new ArrayList<>();
        for (int i = 0; i < rules.size(); i++) {
            if (rules.get(i).cause().map(cause -> cause.equals(cause(finding))).orElse(true)) {
                lines.addAll(of(finding, rules.get(i).of(), amounts.get(i)));
            }
        }
        return List.copyOf(lines);
    }

    private static @Nullable String cause(Table.Row finding) {
        return finding.positions().containsKey("cause") ? finding.text("cause") : null;
    }

    /// What a line holds, and how much of it in which of its calls.
    private static final class Sum {
        private double amount;
        private long count;
        private final Map<String, Double> calls = new TreeMap<>();
        private final Map<String, String> inner = new TreeMap<>();
        private final Map<String, Double> faster = new TreeMap<>();

        void add(Table.Row row, double more) {
            amount += more;
            count += row.integer("count");
            String called = row.text("called");
            calls.merge(called == null ? "" : called, more, Double::sum);
            String way = row.text("faster");
            Double fasterAmount = row.real("faster_amount");
            if (way != null && fasterAmount != null) {
                faster.merge(way, fasterAmount, Double::sum);
            }
            String inside = row.text("inner");
            if (called != null && inside != null) {
                inner.putIfAbsent(called, called + " -> ... -> " + inside);
            }
        }

        /// The call that holds most, where that is at least half.
        @Nullable String call() {
            return mostOf(calls).map(call -> inner.getOrDefault(call, call)).orElse(null);
        }

        /// What is faster than at least half.
        @Nullable String fasterWay() {
            return mostOf(faster).orElse(null);
        }

        private Optional<String> mostOf(Map<String, Double> amounts) {
            return amounts.entrySet().stream()
                    .filter(part -> 2 * part.getValue() >= amount && !part.getKey().isEmpty())
                    .max(Map.Entry.comparingByValue())
                    .map(Map.Entry::getKey);
        }
    }

    private static List<FindingLine> of(Table.Row finding, String what, Table amounts) {
        Map<String, Sum> sums = new TreeMap<>();
        for (Table.Row row : amounts.rows()) {
            Double amount = row.real("amount");
            if (amount != null && isOf(finding, row)) {
                sums.computeIfAbsent(row.requiredText("line"), _ -> new Sum()).add(row, amount);
            }
        }
        sums.values().removeIf(sum -> sum.amount <= 0);
        double all = sums.values().stream().mapToDouble(sum -> sum.amount).sum();
        List<FindingLine> lines = sums.entrySet().stream()
                .map(entry -> new FindingLine(
                        what,
                        entry.getValue().amount / all,
                        entry.getKey(),
                        null,
                        entry.getValue().call(),
                        entry.getValue().fasterWay(),
                        entry.getValue().amount,
                        entry.getValue().count))
                .sorted(Comparator.comparingDouble(FindingLine::share).reversed())
                .toList();
        return LoopLines.together(lines).stream()
                .sorted(Comparator.comparingDouble(FindingLine::share).reversed())
                .limit(MOST)
                .toList();
    }

    /// A finding that names no process is about all; other threads and data workers belong to each thread of theirs.
    private static boolean isOf(Table.Row finding, Table.Row row) {
        List<String> columns = List.of("recording", "pid", "tid");
        for (int i = 0; i < columns.size(); i++) {
            boolean said = finding.positions().containsKey(OWNER.get(i)) && !finding.isNull(OWNER.get(i));
            if (said && !row.isNull(columns.get(i)) && finding.integer(OWNER.get(i)) != row.integer(columns.get(i))) {
                return false;
            }
        }
        return true;
    }
}
