package io.dyber.zernel.record.cli;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// When a file of a series is full: a [Time] of at least a second, or a size of at least 1MB.
record Rotate(Optional<Duration> time, OptionalLong bytes) {
    private static final Pattern SIZE = Pattern.compile("(\\d{1,6})([MGT])i?B");
    private static final Map<String, Long> UNITS = Map.of("M", 1_000_000L, "G", 1_000_000_000L, "T", 1_000_000_000_000L);

    /// Reads `1h` or `1GB`.
    static final class Converter implements ITypeConverter<Rotate> {
        @Override
        public Rotate convert(String text) {
            Matcher size = SIZE.matcher(text);
            if (size.matches()) {
                long bytes = Long.parseLong(size.group(1)) * UNITS.getOrDefault(size.group(2), 1L);
                return new Rotate(Optional.empty(), OptionalLong.of(atLeast(text, bytes, 1_000_000, "1MB")));
            }
            if (!text.matches("\\d+[a-z]+")) {
                throw new TypeConversionException("'" + text + "' is not a duration or size (e.g. 1h, 90s, 500MB, 1GB)");
            }
            Duration time = new Time().convert(text);
            return new Rotate(
                    Optional.of(Duration.ofNanos(atLeast(text, time.toNanos(), 1_000_000_000, "1s"))),
                    OptionalLong.empty());
        }

        private static long atLeast(String text, long value, long least, String name) {
            if (value < least) {
                throw new TypeConversionException("'" + text + "' is less than " + name);
            }
            return value;
        }
    }
}
