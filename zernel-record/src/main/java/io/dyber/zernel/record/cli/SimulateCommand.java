package io.dyber.zernel.record.cli;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.recording.RecordingFile;
import io.dyber.zernel.record.schema.Schema;
import io.dyber.zernel.record.session.FooterFacts;
import io.dyber.zernel.record.simulate.Scenario;
import io.dyber.zernel.record.simulate.Simulation;
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
    private final boolean quiet;

    SimulateCommand(CommandLine line, Path output, boolean quiet) {
        this.line = line;
        this.output = output;
        this.quiet = quiet;
    }

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
        Simulation.Result result = Simulation.record(
                settings,
                new Simulation.Target(output, schema.columns(), schemaJson, options),
                line.getParseResult().originalArgs());
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

    private Simulation.Settings settings(String label, SimulateOptions asked) {
        Scenario scenario = Scenario.named(label)
                .orElseThrow(() -> usage("unknown scenario '" + label + "': the scenarios are " + labels()));
        int number = asked.ranks.orElse(scenario.usualRanks());
        if (asked.steps < 1 || number < 1 || asked.events.orElse(1L) < 1) {
            throw usage("--steps, --events and --ranks are at least 1");
        }
        if (number < scenario.usualRanks() && number == 1) {
            throw usage("scenario '" + label + "' needs --ranks=2 or more");
        }
        double share = asked.strength.orElse(Simulation.Settings.STRENGTH);
        if (share > Simulation.Settings.MOST_STRENGTH) {
            throw usage("--strength is at most 80%: it is the share of the step that the cause costs");
        }
        Simulation.Settings settings =
                new Simulation.Settings(scenario, asked.seed, asked.steps, number).withStrength(share);
        Simulation.Settings sized = asked.events.map(settings::withEvents).orElse(settings);
        return asked.withoutNvml ? sized.withoutNvml() : sized;
    }

    private CommandLine.ParameterException usage(String why) {
        return new CommandLine.ParameterException(line, why);
    }
}
