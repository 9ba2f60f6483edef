package io.dyber.zernel.analyze.report.table;

import io.dyber.zernel.analyze.duckdb.Table;
import java.io.PrintWriter;

/// An array of objects, one per row and line; times are nanoseconds, sizes bytes.
public record JsonTable(PrintWriter out) implements TableFormat {
    @Override
    public void write(Table table) {
        new Json(out).table(table, "");
        out.println();
    }
}
