package io.dyber.zernel.analyze.recording;

import io.dyber.zernel.format.Footer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// One opened recording.
///
/// @param index its value in the column `recording` of every view
/// @param path the file, or the `.live` folder
/// @param state what kind of thing was opened
/// @param rows events in it
/// @param metadata the footer's `zernel.*` keys, each value JSON
/// @param note what a reader must know about an unusual recording; null when there is nothing
public record Recording(
        int index, Path path, State state, long rows, Map<String, String> metadata, @Nullable String note) {

    /// How a recording came to an end.
    public enum State {
        /// A `run.parquet` that the recorder closed.
        FINISHED,
        /// A `.live` folder: still being written, or left by a recorder that died.
        UNFINISHED,
        /// A Parquet file with the right columns that no recorder wrote: nothing is known about its losses.
        FOREIGN,
        /// A profiler's trace: it holds what the profiler saw, and nobody knows whether that is all.
        TRACE,
        /// What was computed from a recording, instead of its events.
        DIGEST
    }

    public Recording {
        metadata = Map.copyOf(metadata);
    }

    /// The footer as typed records, parsed again on each call.
    public Footer footer() {
        return Footer.parse(metadata);
    }

    /// Why the recording is not complete; empty when it is.
    public List<String> incompleteBecause() {
        return switch (state) {
            case UNFINISHED -> List.of("it was not finished");
            case FOREIGN -> List.of("no recorder wrote it, so losses are unknown");
            case FINISHED, TRACE, DIGEST -> finishedBut(footer().recording());
        };
    }

    private static List<String> finishedBut(Footer.About about) {
        if (about.complete()) {
            return List.of();
        }
        return about.incompleteBecause().isEmpty() ? List.of("no reason given") : about.incompleteBecause();
    }
}
