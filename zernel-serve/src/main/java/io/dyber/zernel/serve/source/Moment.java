package io.dyber.zernel.serve.source;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.regex.Pattern;

/// A moment of a recording, as people say it: so long after its start, or a time of day.
public sealed interface Moment {
    /// So long after the first event.
    record After(Duration start) implements Moment {}

    /// At that time.
    record At(Instant time) implements Moment {}

    /// The event time that is meant in a recording whose first event is at `firstNanos`.
    default long eventNanos(long firstNanos) {
        return switch (this) {
            case After after -> firstNanos + after.start().toNanos();
            case At at -> ChronoUnit.NANOS.between(Instant.EPOCH, at.time());
        };
    }

    /// Reads `90s`, `1m30s`, `2h` or `2026-11-21T17:30:00Z`.
    static Moment parse(String text) {
        Pattern after = Pattern.compile("(\\d{1,6}h)?(\\d{1,6}m)?(\\d{1,9}(\\.\\d{1,9})?s)?");
        try {
            return after.matcher(text).matches() && !text.isEmpty()
                    ? new After(Duration.parse("PT" + text.toUpperCase(Locale.ROOT)))
                    : new At(Instant.parse(text));
        } catch (DateTimeException e) {
            throw new IllegalArgumentException(
                    "'" + text + "' is not a moment (e.g. 90s or 1m30s after the start, or 2026-11-21T17:30:00Z)", e);
        }
    }
}
