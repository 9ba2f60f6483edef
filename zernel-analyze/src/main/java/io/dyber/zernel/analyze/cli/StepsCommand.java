package io.dyber.zernel.analyze.cli;

import io.dyber.zernel.analyze.Database;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
        name = "steps",
        mixinStandardHelpOptions = true,
        description = "Every training step with its phases, in order.",
        footer = {
            "",
            "Examples:",
            "  zernel-analyze steps run.parquet",
            "  zernel-analyze steps --slowest 10 run.parquet"
        })
final class StepsCommand implements Runnable {
    @Parameters(arity = "1..*", paramLabel = "FILE", description = "Recordings: files, globs, .live folders.")
    List<String> files = List.of();

    @Option(names = "--slowest", paramLabel = "N", description = "Only the N slowest, slowest first.")
    @Nullable Integer slowest;

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
            output.print(database.query(query()), spec.commandLine().getOut(), true);
        }
    }

    private String query() {
        String order = slowest == null
                ? "recording, pid, tid, step"
                : "dur_ns DESC, recording, pid, tid, step LIMIT " + slowest;
        return """
                SELECT recording, pid, tid, step, dur_ns, data_loading_ns, gpu_compute_ns, nccl_collective_ns,
                    optimizer_step_ns, unknown_ns, batches
                FROM steps
                ORDER BY\s""" + order;
    }
}
