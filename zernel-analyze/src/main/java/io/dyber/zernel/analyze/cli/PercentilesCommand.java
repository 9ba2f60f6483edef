package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Table;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "percentiles",
        mixinStandardHelpOptions = true,
        description = "Exact percentiles of durations per kind and name.",
        footer = {
            "",
            "Examples:",
            "  zernel-analyze percentiles run.parquet",
            "  zernel-analyze percentiles --by-process --kind wait run.parquet"
        })
final class PercentilesCommand implements Runnable {
    @Parameters(arity = "1..*", paramLabel = "FILE", description = "Recordings: files, globs, .live folders.")
    List<String> files = List.of();

    @Option(names = "--by-process", description = "Per process, too.")
    boolean byProcess;

    @Option(names = "--kind", paramLabel = "KIND", description = "Only this kind of event.")
    @Nullable String kind;

    @Mixin
    Input input = new Input();

    @Mixin
    TableOutput output = new TableOutput();

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    @Override
    public void run() {
        try (Database database = input.open(files)) {
            database.requireEvents();
            output.print(table(database), spec.commandLine().getOut(), true);
        }
    }

    private Table table(Database database) {
        String sql = "FROM " + (byProcess ? "process_percentiles" : "percentiles");
        return kind == null ? database.query(sql) : database.query(sql + " WHERE kind = ?", kind);
    }
}
