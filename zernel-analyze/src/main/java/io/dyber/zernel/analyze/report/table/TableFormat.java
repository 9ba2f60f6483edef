package io.dyber.zernel.analyze.report.table;

import io.dyber.zernel.analyze.duckdb.Table;

/// A way to write a table.
public sealed interface TableFormat permits TextTable, CsvTable, JsonTable, MarkdownTable {
    /// Writes the whole table.
    void write(Table table);
}
