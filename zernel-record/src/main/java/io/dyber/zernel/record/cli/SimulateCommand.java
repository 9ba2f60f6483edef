package io.dyber.zernel.record.cli;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.recording.RecordingFile;
import io.dyber.zernel.record.schema.Schema;
import io.dyber.zernel.record.session.FooterFacts;
import io.dyber.zernel.record.simulate.ClusterSimulation;
import io.dyber.zernel.record.simulate.PlacedCause;
import io.dyber.zernel.record.simulate.Scenario;
import io.dyber.zernel.record.simulate.Simulation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;

/// `zernel-record --simulate`: a recording without probes, privileges or a job.
final class SimulateCommand {
    private final CommandLine line;
    private final Path output;
    private final boolean quiet;

    SimulateCommand(CommandLine line, Path output, boolean quiet) {
        this.line = line;
        this.output = output;
        this.quiet = quiet;
    }

    private static final int STEPS = 200;
    /// Of a job on many machines, of which each has a file.
    private static final int STEPS_OF_NODES = 50;

    private static String labels() {
        return Arrays.stream(Scenario.values()).map(Scenario::label).collect(Collectors.joining(", "));
    }

    int call(String label, SimulateOptions asked) {
        Simulation.Settings settings = settings(label, asked);
        Schema schema = CompiledPrograms.schema(List.of());
        RecordingFile.Options options = Invoker.owner()
                .map(owner -> new RecordingFile.Options().withOwner(owner))
                .orElseGet(RecordingFile.Options::new);
        String schemaJson = Footer.json(FooterFacts.schema(schema));
        Simulation.Target target = new Simulation.Target(output, schema.columns(), schemaJson, options);
        if (asked.nodes.perNode.isPresent()) {
            return nodes(label, asked, settings, target);
        }
        Simulation.Result result = Simulation.record(settings, target, line.getParseResult().originalArgs());
        if (quiet) {
            return 0;
        }
        result.notice().ifPresent(notice -> line.getErr().println("zernel-record: " + notice));
        line.getErr()
                .printf(
                        Locale.ROOT,
                        "zernel-record: wrote %s: %,d simulated events, %,d steps (%s, seed %d)%n"
                                + "zernel-record: next: zernel-analyze report %s%n",
                        output,
                        result.events(),
                        result.steps(),
                        label,
                        asked.seed,
                        output);
        return 0;
    }

    private int nodes(String label, SimulateOptions asked, Simulation.Settings settings, Simulation.Target target) {
        ClusterSimulation.Cluster cluster = asked.nodes.cluster(asked.nodes.perNode.orElseThrow());
        try {
            if (Files.isDirectory(output) ? hasFiles(output) : Files.exists(output)) {
                throw new RecordingException(
                        "simulating into '" + output + "': it exists already and is not empty", "-o names an empty folder, or a new one");
            }
            Files.createDirectories(output);
        } catch (IOException e) {
            throw new RecordingException("simulating into '" + output + "': " + e.getMessage(), null, e);
        }
        List<Simulation.Result> written = new ArrayList<>();
        ClusterSimulation.record(settings, cluster, target, line.getParseResult().originalArgs(), written::add);
        if (!quiet) {
            line.getErr()
                    .printf(
                            Locale.ROOT,
                            "zernel-record: wrote %s: %,d recordings, %,d simulated events, %,d ranks, %,d steps (%s, seed %d)%n"
                                    + "zernel-record: next: zernel-analyze digest %s -o digests%n",
                            output,
                            written.size(),
                            written.stream().mapToLong(Simulation.Result::events).sum(),
                            settings.ranks(),
                            settings.steps(),
                            label,
                            asked.seed,
                            output);
        }
        return 0;
    }

    private static boolean hasFiles(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.findAny().isPresent();
        }
    }

    private void check(SimulateOptions asked, int ranks) {
        if (asked.nodes.perNode.isEmpty()) {
            if (!asked.nodes.causes.isEmpty() || asked.nodes.lengthSpread.isPresent()) {
                throw usage("--cause and --length-spread go with --per-node=N");
            }
            return;
        }
        int perNode = asked.nodes.perNode.get();
        if (perNode < 1) {
            throw usage("--per-node is at least 1");
        }
        if (!line.getParseResult().hasMatchedOption("--output")) {
            throw usage("--per-node writes a recording for each machine: -o names a folder for them");
        }
        if (asked.events.isPresent()) {
            throw usage("--per-node goes with --steps, not with --events");
        }
        for (PlacedCause cause : asked.nodes.causes) {
            int rank = cause.place() == PlacedCause.Place.NODE ? cause.number() * perNode : cause.number();
            if (rank >= ranks) {
                throw usage("--cause=" + cause + ": there are " + ranks + " ranks, " + perNode + " on a machine");
            }
        }
    }

    private Simulation.Settings settings(String label, SimulateOptions asked) {
        Scenario scenario = Scenario.named(label)
                .orElseThrow(() -> usage("unknown scenario '" + label + "': the scenarios are " + labels()));
        int number = asked.ranks.orElse(scenario.usualRanks());
        int steps = asked.steps.orElse(asked.nodes.perNode.isPresent() ? STEPS_OF_NODES : STEPS);
        if (steps < 1 || number < 1 || asked.events.orElse(1L) < 1) {
            throw usage("--steps, --events and --ranks are at least 1");
        }
        if (number < scenario.usualRanks() && number == 1) {
            throw usage("scenario '" + label + "' needs --ranks=2 or more");
        }
        check(asked, number);
        double share = asked.strength.orElse(Simulation.Settings.STRENGTH);
        if (share > Simulation.Settings.MOST_STRENGTH) {
            throw usage("--strength is at most 80%: it is the share of the step that the cause costs");
        }
        Simulation.Settings settings =
                new Simulation.Settings(scenario, asked.seed, steps, number).withStrength(share);
        Simulation.Settings sized = asked.events.map(settings::withEvents).orElse(settings);
        return asked.withoutNvml ? sized.withoutNvml() : sized;
    }

    private CommandLine.ParameterException usage(String why) {
        return new CommandLine.ParameterException(line, why);
    }
}
