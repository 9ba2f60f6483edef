package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Table;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// What the commands share that print one table: recordings in, table out.
final class TableCommand {
    @Parameters(arity = "1..*", paramLabel = "FILE", description = "Recordings: files, globs, .live folders.")
    List<String> files = List.of();

    @Mixin
    Input input = new Input();

    @Mixin
    TableOutput output = new TableOutput();

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    /// Prints the result of a query, and says on standard error where it is empty.
    void print(String sql, Object... parameters) {
        try (Database database = input.open(files)) {
            database.requireEvents();
            Table table = database.query(sql, parameters);
            output.print(table, spec.commandLine().getOut(), true);
            if (table.rows().isEmpty()) {
                spec.commandLine()
                        .getErr()
                        .println("nothing of this was recorded; zernel-analyze info says what was probed");
            }
        }
    }
}
