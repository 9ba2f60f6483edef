package io.dyber.zernel.serve.analysis;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.duckdb.Table;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;

/// A finished recording's findings, and the mean step of the thread that trained most.
///
/// @param millis mean wall time of a training step, without warm-up, evaluation and checkpoints; empty where none was seen
/// @param findings what to fix, by what it loses at least, most first
public record MeasuredSteps(OptionalDouble millis, List<Findings.Found> findings) {
    /// Asks the analyzer.
    public static MeasuredSteps of(Path recording) {
        try (Database database = Recordings.open(recording.toString())) {
            Table steps = database.query("SELECT step_ns / 1e6 AS step_ms FROM step_mean ORDER BY steps DESC LIMIT 1");
            Double millis = steps.rows().isEmpty() ? null : steps.rows().getFirst().real("step_ms");
            return new MeasuredSteps(
                    millis == null ? OptionalDouble.empty() : OptionalDouble.of(millis),
                    Findings.of(database, recording.toString()).findings());
        }
    }
}
