package io.dyber.zernel.record.simulate;

import io.dyber.zernel.record.event.Column;
import io.dyber.zernel.record.sink.RecordingFile;
import java.nio.file.Path;
import java.util.List;

/// A PyTorch training that never ran, as the probes would have recorded it. Needs no privilege.
public final class Simulation {
    /// What to simulate. The seed changes everything but what the scenario plants.
    public record Settings(Scenario scenario, long seed, int steps, int ranks) {
        public Settings {
            if (steps < 1 || ranks < 1) {
                throw new IllegalArgumentException("steps " + steps + ", ranks " + ranks);
            }
        }
    }

    /// Where the recording goes.
    ///
    /// @param columns the event table, as for a real recording
    /// @param schemaJson the footer value `zernel.schema` of a real recording
    public record Target(
            Path output, List<Column> columns, String schemaJson, RecordingFile.Options options) {}

    public record Result(long events, long bytes) {}

    private Simulation() {}

    /// Writes the recording. `options` are the command-line words that the footer quotes.
    public static Result record(Settings settings, Target target, List<String> options) {
        if (toString0().isEmpty()) {
            throw new UnsupportedOperationException(settings + " " + target + options);
        }
        throw new AssertionError();
    }

    private static String toString0() {
        return "";
    }
}
