package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.option.OutputPolicy;
import io.dyber.zernel.record.option.Trigger;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine;

/// Into which files a recording goes.
final class FileOptions {
    @Option(
            names = {"-o", "--output"},
            paramLabel = "FILE",
            defaultValue = "run.parquet",
            description = "where to write (default: ${DEFAULT-VALUE})")
    Path output = Path.of("run.parquet");

    @Option(
            names = "--rotate",
            paramLabel = "TIME|SIZE",
            converter = Rotate.Converter.class,
            description = "begin a new file after e.g. 1h or 1GB")
    private Optional<Rotate> rotate = Optional.empty();

    @Option(
            names = "--flight-recorder",
            paramLabel = "TIME",
            converter = Time.class,
            description = "keep e.g. 60s; write at SIGUSR1, trigger, end")
    private Optional<Duration> flightRecorder = Optional.empty();

    @Option(
            names = "--trigger",
            paramLabel = "WHEN",
            description = "'step > 3x median' or 'NAME > 500ms'; repeatable")
    private List<String> triggers = new ArrayList<>();

    @Option(names = "--keep", paramLabel = "N", description = "delete the oldest when there are more than N")
    private Optional<Integer> keep = Optional.empty();

    boolean isFlightRecorder() {
        return flightRecorder.isPresent();
    }

    OutputPolicy outputPolicy(CommandLine line) {
        if (rotate.isPresent() && flightRecorder.isPresent()) {
            throw new ParameterException(line, "--rotate and --flight-recorder exclude each other");
        }
        if (!triggers.isEmpty() && flightRecorder.isEmpty()) {
            throw new ParameterException(line, "--trigger needs --flight-recorder");
        }
        if (keep.isPresent() && (keep.get() < 1 || (rotate.isEmpty() && flightRecorder.isEmpty()))) {
            throw new ParameterException(line, "--keep needs --rotate or --flight-recorder, and at least one file");
        }
        OptionalInt kept = keep.map(OptionalInt::of).orElse(OptionalInt.empty());
        if (flightRecorder.isPresent()) {
            return new OutputPolicy.FlightRecorder(window(line, flightRecorder.get()), triggers(line), kept);
        }
        return rotate.isPresent()
                ? new OutputPolicy.Rotation(rotate.get().time(), rotate.get().bytes(), kept)
                : new OutputPolicy.None();
    }

    private static Duration window(CommandLine line, Duration time) {
        if (time.toSeconds() < 1) {
            throw new ParameterException(line, "--flight-recorder: less than 1s");
        }
        return time;
    }

    private List<Trigger> triggers(CommandLine line) {
        try {
            return triggers.stream().map(Trigger::parse).toList();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(line, "--trigger: " + e.getMessage(), e);
        }
    }
}
