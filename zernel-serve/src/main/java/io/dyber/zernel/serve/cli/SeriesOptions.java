package io.dyber.zernel.serve.cli;

import io.dyber.zernel.serve.live.SeriesPolicy;
import io.dyber.zernel.serve.metric.CommonLabels;
import java.util.List;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine;

/// The options of `zernel serve` about which series there are, and how they are shown.
final class SeriesOptions {
    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(names = "--max-pids", paramLabel = "N", defaultValue = "100",
            description = "Processes with series of their own. Default: ${DEFAULT-VALUE}")
    private int pidLimit;

    @Option(names = "--label", paramLabel = "NAME=VALUE",
            description = "A label of all series and webhooks; repeatable.")
    private List<String> labels = List.of();

    @Option(names = "--histograms",
            description = "Durations as histograms, which add up over hosts.")
    private boolean histograms;

    @Option(names = "--workers-apart",
            description = "DataLoader workers have series of their own.")
    private boolean workersApart;

    /// Whether durations are shown as histograms.
    boolean histograms() {
        return histograms;
    }

    /// @throws CommandLine.ParameterException if one of them is no label, or no process would have series
    SeriesPolicy policy() {
        if (pidLimit < 1) {
            throw new CommandLine.ParameterException(spec.commandLine(), "--max-pids is 1 or more");
        }
        try {
            return new SeriesPolicy(pidLimit, workersApart, histograms, CommonLabels.parse(labels));
        } catch (IllegalArgumentException e) {
            throw new CommandLine.ParameterException(spec.commandLine(), String.valueOf(e.getMessage()));
        }
    }
}
