package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Table;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/// What the commands share that print one table: recordings in, table out.
final class TableCommand {
    @Mixin
    Job job = new Job();

    @Mixin
    TableOutput output = new TableOutput();

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    /// Prints the result of a query, and says on standard error where it is empty.
    void print(String sql, Object... parameters) {
        printOr("nothing of this was recorded; zernel-analyze info says what was probed", sql, parameters);
    }

    /// Prints the result of a query, and says `ifEmpty` on standard error where it is empty.
    void printOr(String ifEmpty, String sql, Object... parameters) {
        Table table = query(sql, parameters);
        output.print(table, spec.commandLine().getOut(), true);
        if (table.rows().isEmpty()) {
            spec.commandLine().getErr().println(ifEmpty);
        }
    }

    private Table query(String sql, Object... parameters) {
        try (Waiting waiting = job.waiting();
                Database database = job.open()) {
            database.requireEvents();
            waiting.at("querying", 0);
            return database.query(sql, parameters);
        }
    }
}
