package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.cli.option.Job;
import io.dyber.zernel.analyze.cli.option.ProgressLine;
import io.dyber.zernel.analyze.cli.option.TableOutput;
import io.dyber.zernel.analyze.duckdb.Table;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/// What the commands share that print one table: recordings in, table out.
final class TablePrinter {
    @Mixin
    Job job = new Job();

    @Mixin
    TableOutput output = new TableOutput();

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    /// Prints the answer to a question, and says on standard error where it is empty, or another one.
    void print(TableCommand.Answer answer, Object... parameters) {
        Table table = query(List.of(), answer.sql(), parameters);
        TableCommand.Otherwise otherwise = answer.otherwise();
        if (table.rows().isEmpty() && otherwise != null) {
            Table other = query(List.of(), otherwise.sql());
            if (!other.rows().isEmpty()) {
                spec.commandLine().getErr().println(otherwise.says());
                output.print(other, spec.commandLine().getOut(), true);
                return;
            }
        }
        show(answer.ifEmpty(), table);
    }

    /// Prints the answer to a question about some kinds of events.
    ///
    /// @throws io.dyber.zernel.format.RecordingException if there is no such kind
    void printOfKinds(List<String> kinds, TableCommand.Answer answer, Object... parameters) {
        show(answer.ifEmpty(), query(kinds, answer.sql(), parameters));
    }

    private void show(String ifEmpty, Table table) {
        output.print(table, spec.commandLine().getOut(), true);
        if (table.rows().isEmpty()) {
            spec.commandLine().getErr().println(ifEmpty);
        }
    }

    private Table query(List<String> kinds, String sql, Object... parameters) {
        try (ProgressLine progress = job.progress();
                Database database = job.open()) {
            database.requireEvents();
            database.requireKinds(kinds);
            progress.at("querying", 0);
            return database.query(sql, parameters);
        }
    }
}
