package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.Footer;
import io.dyber.zernel.record.Programs;
import io.dyber.zernel.record.event.Schema;
import io.dyber.zernel.record.simulate.Scenario;
import io.dyber.zernel.record.simulate.Simulation;
import io.dyber.zernel.record.sink.RecordingFile;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine;

/// `zernel-record --simulate`: a recording without probes, privileges or a job.
final class SimulateCommand {
    private final CommandLine line;
    private final Path output;
    private final String scenario;
    private final long seed;
    private final int steps;
    private final int ranks;

    SimulateCommand(CommandLine line, Path output, String scenario, long seed, int steps, int ranks) {
        this.line = line;
        this.output = output;
        this.scenario = scenario;
        this.seed = seed;
        this.steps = steps;
        this.ranks = ranks;
    }

    private static String labels() {
        return Arrays.stream(Scenario.values()).map(Scenario::label).collect(Collectors.joining(", "));
    }

    int call() {
        if (steps < 1 || ranks < 1) {
            throw new CommandLine.ParameterException(line, "--steps and --ranks are at least 1");
        }
        Scenario chosen = Scenario.named(scenario)
                .orElseThrow(() -> new CommandLine.ParameterException(
                        line, "unknown scenario '" + scenario + "': the scenarios are " + labels()));
        Schema schema = Programs.schema(List.of());
        RecordingFile.Options options = Invoker.owner()
                .map(owner -> new RecordingFile.Options().withOwner(owner))
                .orElseGet(RecordingFile.Options::new);
        String schemaJson = new Footer()
                .put("zernel.schema", Footer.schema(schema))
                .values()
                .getOrDefault("zernel.schema", "");
        Simulation.Result result = Simulation.record(
                new Simulation.Settings(chosen, seed, steps, ranks),
                new Simulation.Target(output, schema.columns(), schemaJson, options),
                line.getParseResult().originalArgs());
        line.getErr()
                .printf(
                        Locale.ROOT,
                        "zernel-record: wrote %s: %,d simulated events (%s, seed %d)%n"
                                + "zernel-record: next: zernel-analyze report %s%n",
                        output,
                        result.events(),
                        scenario,
                        seed,
                        output);
        return 0;
    }
}
