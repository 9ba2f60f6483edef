package io.dyber.zernel.analyze.report;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.data.Report;
import io.dyber.zernel.analyze.report.table.Json;
import io.dyber.zernel.analyze.sql.SqlLibrary;
import io.dyber.zernel.analyze.sql.SqlObject;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The JSON Schema of [JsonReport], with the comments of the SQL as descriptions: it cannot fall behind the views.
///
/// @param out where it goes; not closed here
/// @param library where the views are documented
public record JsonSchema(PrintWriter out, SqlLibrary library) implements ReportFormat {
    @Override
    public void write(Report report) {
        Map<String, Object> members = new LinkedHashMap<>();
        members.put("format", Map.of("const", JsonReport.FORMAT));
        members.put("verdict", object("What to fix first.", Map.of(
                "kind", Map.of("enum", List.of("bottleneck", "risk", "healthy", "unknown")),
                "sentence", Map.of("type", "string"),
                "reason", Map.of("type", "string"))));
        members.put("recorded", Map.of(
                "type", List.of("string", "null"),
                "description", "When the recording, or the first of them, began, in the time zone of the reader (ISO 8601)."));
        report.sections().forEach((name, table) -> members.put(name, rows(library.find(name), table)));
        members.put("sentences", rows("What the report says of them as text.", Sentences.of(report), Sentences.COLUMNS));
        members.put("findings", rows("What to fix, by what it loses at least, most first.",
                JsonReport.table(report.diagnosis().findings()), Map.of()));
        members.put("finding_sql", Map.of(
                "type", "object",
                "description", "The query of each kind of finding in findings.",
                "additionalProperties", Map.of("type", "string")));
        members.put("skipped_findings", Map.of(
                "type", "object",
                "description", "Findings that could not run, each with its reason.",
                "additionalProperties", Map.of("type", "string")));
        Map<String, Object> schema = new LinkedHashMap<>();
        schema.put("$schema", "https://json-schema.org/draft/2020-12/schema");
        schema.put("title", "zernel-analyze report --json, format " + JsonReport.FORMAT);
        schema.putAll(object("Times are nanoseconds, sizes bytes, shares 0 to 1. Members may be added.", members));
        new Json(out).value(schema);
        out.println();
    }

    private static Map<String, Object> object(String description, Map<String, Object> members) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("type", "object");
        object.put("description", description);
        object.put("properties", members);
        object.put("required", members.keySet().stream().sorted().toList());
        return object;
    }

    private static Map<String, Object> rows(@Nullable SqlObject view, Table table) {
        if (view == null) {
            throw new IllegalStateException("a section of the report is no view");
        }
        Map<String, String> comments = new LinkedHashMap<>();
        Map<String, String> known = view.columns();
        table.columns().forEach(column -> comments.put(column.name(), known.getOrDefault(column.name(), "")));
        return rows(view.title(), table, comments);
    }

    private static Map<String, Object> rows(String title, Table table, Map<String, String> comments) {
        Map<String, Object> columns = new LinkedHashMap<>();
        for (Table.Column column : table.columns()) {
            Map<String, Object> type = new LinkedHashMap<>();
            String json = type(column.type());
            if (!json.isEmpty()) {
                type.put("type", List.of(json, "null"));
            }
            String comment = comments.getOrDefault(column.name(), "");
            if (!comment.isEmpty()) {
                type.put("description", comment);
            }
            columns.put(column.name(), type);
        }
        Map<String, Object> array = new LinkedHashMap<>();
        array.put("type", "array");
        array.put("items", object(title, columns));
        return array;
    }

    private static String type(String duckDb) {
        return switch (duckDb) {
            case "BIGINT", "INTEGER", "HUGEINT", "UBIGINT" -> "integer";
            case "DOUBLE", "FLOAT" -> "number";
            case "BOOLEAN" -> "boolean";
            case "VARCHAR" -> "string";
            default -> "";
        };
    }
}
