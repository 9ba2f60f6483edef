package io.dyber.zernel.analyze.cli.option;

import io.dyber.zernel.analyze.Database;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// The recordings of one job, which most commands take.
public final class Job {
    @Parameters(
            arity = "0..*",
            paramLabel = "FILE...",
            hideParamSyntax = true,
            description = "Recordings: files, globs, .live folders; several are one job. Traces of PyTorch's profiler join them.")
    public List<String> files = List.of();

    @Mixin
    public Input input = new Input();

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // picocli sets it
    CommandSpec spec;

    /// Opens them.
    public Database open() {
        if (files.isEmpty()) {
            throw new ParameterException(spec.commandLine(), "missing FILE");
        }
        return input.open(files);
    }

    /// Says what takes long, on standard error.
    public ProgressLine progress() {
        ProgressLine progress = ProgressLine.on(spec.commandLine().getErr());
        progress.at("opening " + String.join(" ", files), 0);
        return progress;
    }
}
