package io.dyber.zernel.analyze.trace;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/// What a trace says about itself, and how far it could be read.
///
/// @param base nanoseconds since the epoch that are added to all times; null when it is not said
/// @param rank of the process in its job, if it is said
/// @param ranks of the job, if it is said
/// @param events of any kind
/// @param skipped events that could not be used, by reason
/// @param damage where and why the file could not be read on; null when it was read to its end
record TraceHeader(
        @Nullable Long base,
        @Nullable Long rank,
        @Nullable Long ranks,
        long events,
        Map<String, Long> skipped,
        @Nullable String damage) {}
