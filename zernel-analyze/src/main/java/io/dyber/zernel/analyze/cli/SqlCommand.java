package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "sql",
        mixinStandardHelpOptions = true,
        description = "Runs a DuckDB query over the table events and the library's views.",
        footer = {
            "",
            "Each kind of event has a view with only its columns (FROM io). The library's views are the files in",
            "sql/views: steps, phases, percentiles, data_wait, workers, processes, losses, probes, ...",
            "",
            "Examples:",
            "  zernel-analyze sql run.parquet \"SELECT name, avg(dur_ns) FROM region GROUP BY ALL\"",
            "  zernel-analyze sql --csv run.parquet \"FROM steps\" > steps.csv"
        })
final class SqlCommand implements Runnable {
    @Parameters(
            arity = "2..*",
            paramLabel = "FILE... QUERY",
            hideParamSyntax = true,
            description = "Recordings, then the query; - reads the query from standard input.")
    List<String> words = List.of();

    @Mixin
    Input input = new Input();

    @Mixin
    TableOutput output = new TableOutput();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Override
    public void run() {
        try (Database database = input.open(words.subList(0, words.size() - 1))) {
            output.print(database.query(query()), spec.commandLine().getOut(), false);
        }
    }

    private String query() {
        String query = words.getLast();
        if (!query.equals("-")) {
            return query;
        }
        try {
            return new String(System.in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
