package io.dyber.zernel.record.cli;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// A [Time] of at least 10 ms, or `off`, which is zero.
final class SampleInterval implements ITypeConverter<Duration> {
    private static final Duration LEAST = Duration.ofMillis(10);

    @Override
    public Duration convert(String text) {
        Duration interval = text.equals("off") ? Duration.ZERO : new Time().convert(text);
        if (!interval.isZero() && interval.compareTo(LEAST) < 0) {
            throw new TypeConversionException("'" + text + "' is shorter than 10ms");
        }
        return interval;
    }
}
