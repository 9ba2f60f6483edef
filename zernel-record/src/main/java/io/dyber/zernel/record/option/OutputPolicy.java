package io.dyber.zernel.record.option;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/// Into which files a recording goes.
public sealed interface OutputPolicy {
    /// One, at the end.
    record None() implements OutputPolicy {}

    /// One after the other, each begun when the last is old or large enough.
    ///
    /// @param keep files of the series that stay, empty for all
    record Rotation(Optional<Duration> time, OptionalLong bytes, OptionalInt keep) implements OutputPolicy {}

    /// The last moments before something happened, for each time that it happens and for the end.
    ///
    /// @param window how much of the time before is kept
    record FlightRecorder(Duration window, List<Trigger> triggers, OptionalInt keep) implements OutputPolicy {
        public FlightRecorder {
            triggers = List.copyOf(triggers);
        }
    }

    /// Files that stay, empty for all.
    default OptionalInt kept() {
        return switch (this) {
            case None() -> OptionalInt.empty();
            case Rotation rotation -> rotation.keep();
            case FlightRecorder recorder -> recorder.keep();
        };
    }

    /// What makes a flight recorder write its file.
    default List<Trigger> triggers() {
        return List.of();
    }

    /// How much of the time before a flight recorder keeps.
    default Duration window() {
        return Duration.ZERO;
    }
}
