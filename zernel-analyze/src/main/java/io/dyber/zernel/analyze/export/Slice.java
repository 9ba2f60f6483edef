package io.dyber.zernel.analyze.export;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Something on a track that took time, or an instant.
///
/// @param category kind of the event
/// @param start nanoseconds since the epoch
/// @param duration nanoseconds; [#INSTANT] for an instant
/// @param arguments further columns, values are `Long`, `Double` or `String`
/// @param flow what connects it with slices of other tracks, if anything
record Slice(
        String category, String name, long start, long duration, Map<String, Object> arguments, @Nullable Flow flow) {
    static final long INSTANT = -1;

    /// One arrow through all slices of the same number, by time.
    record Flow(long id, boolean first, boolean last) {}

    boolean isInstant() {
        return duration == INSTANT;
    }

    long end() {
        return isInstant() ? start : start + duration;
    }
}
