package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Table;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/// What the commands share that print one table: recordings in, table out.
final class TableCommand {
    private static final String NOTHING = "nothing of this was recorded; zernel-analyze info says what was probed";

    @Mixin
    Job job = new Job();

    @Mixin
    TableOutput output = new TableOutput();

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    /// Prints the result of a query, and says on standard error where it is empty.
    void print(String sql, Object... parameters) {
        printOr(NOTHING, sql, parameters);
    }

    /// Prints the result of a query whose parameter is a kind of events.
    ///
    /// @throws io.dyber.zernel.analyze.RecordingException if there is no such kind
    void printOfKind(String kind, String sql) {
        show(NOTHING, query(List.of(kind), sql, kind));
    }

    /// Prints the result of a query, and says `ifEmpty` on standard error where it is empty.
    void printOr(String ifEmpty, String sql, Object... parameters) {
        show(ifEmpty, query(List.of(), sql, parameters));
    }

    /// Prints the result of a query, or, where it is empty, that of another one, and says so on standard error.
    void printOrElse(String sql, String says, String otherSql) {
        Table table = query(List.of(), sql);
        if (table.rows().isEmpty()) {
            Table other = query(List.of(), otherSql);
            if (!other.rows().isEmpty()) {
                spec.commandLine().getErr().println(says);
                output.print(other, spec.commandLine().getOut(), true);
                return;
            }
        }
        show(NOTHING, table);
    }

    private void show(String ifEmpty, Table table) {
        output.print(table, spec.commandLine().getOut(), true);
        if (table.rows().isEmpty()) {
            spec.commandLine().getErr().println(ifEmpty);
        }
    }

    private Table query(List<String> kinds, String sql, Object... parameters) {
        try (Waiting waiting = job.waiting();
                Database database = job.open()) {
            database.requireEvents();
            database.requireKinds(kinds);
            waiting.at("querying", 0);
            return database.query(sql, parameters);
        }
    }
}
