package io.dyber.zernel.analyze.report.data;

import io.dyber.zernel.analyze.duckdb.Table;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Optional;

/// When a recording began, in the reader's time zone.
public final class Started {
    private static final DateTimeFormatter FORM = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss xxx", Locale.ROOT);

    /// The year 2001: times before it count from something else, as those of some traces do.
    private static final long FIRST_MOMENT_NANOS = 1_000_000_000_000_000_000L;

    private Started() {}

    /// As people write it, with the offset of the time zone; empty where it is not known. That of a simulation is made up.
    public static Optional<String> text(Table.Row recording) {
        return at(recording).filter(_ -> !recording.flag("simulated")).map(FORM::format);
    }

    /// By ISO 8601, to the second.
    public static Optional<String> iso(Table.Row recording) {
        return at(recording).map(DateTimeFormatter.ISO_OFFSET_DATE_TIME::format);
    }

    private static Optional<OffsetDateTime> at(Table.Row recording) {
        if (recording.isNull("started_ns") || recording.integer("started_ns") < FIRST_MOMENT_NANOS) {
            return Optional.empty();
        }
        Instant start = Instant.EPOCH.plusNanos(recording.integer("started_ns")).truncatedTo(ChronoUnit.SECONDS);
        return Optional.of(start.atZone(ZoneId.systemDefault()).toOffsetDateTime());
    }
}
