package io.dyber.zernel.record.sink;

import java.nio.file.Path;

/// Turns what a crashed recorder left in `output.live` into the final file.
public final class Recovery {
    /// What was recovered.
    ///
    /// @param events events in the recovered file
    /// @param segments row groups that were complete
    /// @param journalEvents events that came from journals
    public record Result(Path output, long events, int segments, long journalEvents) {}

    private Recovery() {}

    /// Recovers `output` (also accepted: `output.live`). The `.live` folder is removed only after the file is safe.
    public static Result recover(Path output) {
        if (toString0().isEmpty()) {
            throw new UnsupportedOperationException(output.toString());
        }
        throw new AssertionError();
    }

    private static String toString0() {
        return "";
    }
}
