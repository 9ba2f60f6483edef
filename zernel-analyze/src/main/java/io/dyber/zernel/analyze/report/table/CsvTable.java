package io.dyber.zernel.analyze.report.table;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.format.Visible;
import java.io.PrintWriter;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Comma-separated values (RFC 4180, but lines end in LF); NULL is empty, numbers are raw, control characters visible.
public record CsvTable(PrintWriter out) implements TableFormat {
    @Override
    public void write(Table table) {
        out.print(table.columns().stream().map(column -> field(column.name())).collect(Collectors.joining(",", "", "\n")));
        for (Table.Row row : table.rows()) {
            out.print(row.values().stream().map(CsvTable::field).collect(Collectors.joining(",", "", "\n")));
        }
    }

    private static String field(@Nullable Object value) {
        String text = value == null ? "" : Visible.butLines(value.toString());
        return text.matches("[^\",\n\r]*") ? text : "\"" + text.replace("\"", "\"\"") + "\"";
    }
}
