package io.dyber.zernel.analyze.cli.option;

import io.dyber.zernel.analyze.duckdb.Table;
import io.dyber.zernel.analyze.report.table.CsvTable;
import io.dyber.zernel.analyze.report.table.JsonTable;
import io.dyber.zernel.analyze.report.table.TableFormat;
import io.dyber.zernel.analyze.report.table.TextTable;
import java.io.PrintWriter;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// How a table is printed.
public final class TableOutput {
    @Mixin
    public TerminalOptions terminal = new TerminalOptions();

    @ArgGroup(exclusive = true)
    public Form form = new Form();

    public static final class Form {
        @Option(names = "--json", description = "Print an array of objects, times in ns.")
        public boolean json;

        @Option(names = "--csv", description = "Print comma-separated values, times in ns.")
        public boolean csv;
    }

    /// Prints a table in the form that the options ask for.
    ///
    /// @param human whether text shows units; JSON and CSV never do
    public void print(Table table, PrintWriter out, boolean human) {
        TableFormat format = form.json
                ? new JsonTable(out)
                : form.csv ? new CsvTable(out) : new TextTable(terminal.page(out), human);
        format.write(table);
        out.flush();
    }
}
