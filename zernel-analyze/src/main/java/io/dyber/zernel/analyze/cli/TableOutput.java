package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Table;
import io.dyber.zernel.analyze.report.CsvTable;
import io.dyber.zernel.analyze.report.JsonTable;
import io.dyber.zernel.analyze.report.TableFormat;
import io.dyber.zernel.analyze.report.TextTable;
import java.io.PrintWriter;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// How a table is printed.
final class TableOutput {
    @Mixin
    TerminalOptions terminal = new TerminalOptions();

    @ArgGroup(exclusive = true)
    Form form = new Form();

    static final class Form {
        @Option(names = "--json", description = "Print an array of objects, times in ns.")
        boolean json;

        @Option(names = "--csv", description = "Print comma-separated values, times in ns.")
        boolean csv;
    }

    /// @param human whether text shows units; JSON and CSV never do
    void print(Table table, PrintWriter out, boolean human) {
        TableFormat format = form.json
                ? new JsonTable(out)
                : form.csv ? new CsvTable(out) : new TextTable(terminal.page(out), human);
        format.write(table);
        out.flush();
    }
}
