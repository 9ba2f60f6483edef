package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "phases",
        mixinStandardHelpOptions = true,
        description = "Where each training thread's wall time went; sums to 100 %%.",
        footer = {
            "",
            "Examples:",
            "  zernel-analyze phases run.parquet",
            "  zernel-analyze phases --parts --csv run.parquet"
        })
final class PhasesCommand implements Runnable {
    @Parameters(arity = "1..*", paramLabel = "FILE", description = "Recordings: files, globs, .live folders.")
    List<String> files = List.of();

    @Option(names = "--parts", description = "Split phases into parts, such as forward and backward.")
    boolean parts;

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
            output.print(database.query("FROM " + (parts ? "phase_parts" : "phases")), spec.commandLine().getOut(), true);
        }
    }
}
