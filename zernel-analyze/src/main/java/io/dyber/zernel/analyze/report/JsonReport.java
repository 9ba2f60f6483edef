package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.Diagnosis;
import io.dyber.zernel.analyze.Finding;
import io.dyber.zernel.analyze.FindingLine;
import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.report.data.Started;
import io.dyber.zernel.analyze.report.data.Verdict;
import io.dyber.zernel.analyze.report.table.Json;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The report as one JSON object: `format`, `verdict`, `recorded` (when, ISO 8601), each view as an array of rows,
/// `sentences` about them, `findings`, `finding_sql`, and `skipped_findings`, those that could not run, each with its reason.
/// [JsonSchema] describes it.
///
/// Times are nanoseconds (`_ns`), sizes bytes; shares go from 0 to 1. Members are only ever added.
///
/// @param out where it goes; not closed here
/// @param library where the SQL of a finding is
public record JsonReport(PrintWriter out, SqlLibrary library) implements ReportFormat {
    /// Changes only when a reader of the one before would misread it.
    static final int FORMAT = 1;

    @Override
    public void write(Report report) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put("format", FORMAT);
        members.put("verdict", verdict(report.verdict()));
        members.put("recorded", recorded(report));
        members.putAll(report.sections());
        members.put("sentences", Sentences.of(report));
        members.put("findings", table(report.diagnosis().findings()));
        members.put("finding_sql", queries(report.diagnosis()));
        members.put("skipped_findings", skipped(report.diagnosis()));
        new Json(out).document(members);
    }

    private static @Nullable String recorded(Report report) {
        return report.section("recordings").rows().stream().findFirst().flatMap(Started::iso).orElse(null);
    }

    static Map<String, String> verdict(Verdict verdict) {
        Map<String, String> members = new LinkedHashMap<>();
        members.put("kind", verdict.kind().name().toLowerCase(Locale.ROOT));
        members.put("sentence", verdict.sentence());
        members.put("reason", verdict.reason());
        return members;
    }

    private Map<String, String> queries(Diagnosis diagnosis) {
        Map<String, String> queries = new LinkedHashMap<>();
        for (Finding finding : diagnosis.findings()) {
            SqlObject query = library.find(finding.name());
            if (query != null) {
                queries.put(finding.name(), query.sql());
            }
        }
        return queries;
    }

    static Map<String, String> skipped(Diagnosis diagnosis) {
        Map<String, String> reasons = new LinkedHashMap<>();
        diagnosis.skipped().forEach(one -> reasons.put(one.name(), one.reason()));
        return reasons;
    }

    /// Findings of one kind, without what is the same in all.
    static Table evidence(List<Finding> findings) {
        Table all = table(findings);
        List<String> shown = List.of("subject", "value", "unit", "severity", "lost_ms_per_step", "max_speedup", "evidence");
        List<Table.Column> columns =
                all.columns().stream().filter(column -> shown.contains(column.name())).toList();
        List<Table.Row> rows = new ArrayList<>();
        for (Table.Row row : all.rows()) {
            List<@Nullable Object> values = new ArrayList<>();
            columns.forEach(column -> values.add(row.value(column.name())));
            rows.add(new Table.Row(Map.of(), values));
        }
        return new Table(columns, rows);
    }

    /// Findings as a table, their further columns in `more`, the lines that hold their time in `lines`.
    public static Table table(List<Finding> findings) {
        List<Table.Column> columns = new ArrayList<>();
        columns.add(new Table.Column("finding", "VARCHAR"));
        columns.add(new Table.Column("title", "VARCHAR"));
        Map<String, String> types = Map.of("value", "DOUBLE", "lost_ms_per_step", "DOUBLE", "max_speedup", "DOUBLE");
        Finding.COLUMNS.forEach(name -> columns.add(new Table.Column(name, types.getOrDefault(name, "VARCHAR"))));
        columns.add(new Table.Column("more", "MAP"));
        columns.add(new Table.Column("lines", "LIST"));
        Map<String, Integer> positions = new HashMap<>();
        for (int i = 0; i < columns.size(); i++) {
            positions.put(columns.get(i).name(), i);
        }
        List<Table.Row> rows = new ArrayList<>();
        for (Finding finding : findings) {
            List<@Nullable Object> values = new ArrayList<>();
            values.add(finding.name());
            values.add(finding.title());
            values.add(finding.subject());
            values.add(finding.value());
            values.add(finding.unit());
            values.add(finding.severity());
            values.add(finding.lostMillisPerStep());
            values.add(finding.maxSpeedup());
            values.add(finding.evidence());
            values.add(finding.advice());
            values.add(finding.nextCommand());
            values.add(finding.more());
            values.add(finding.lines().stream().map(FindingLine::members).toList());
            rows.add(new Table.Row(positions, values));
        }
        return new Table(columns, rows);
    }
}
