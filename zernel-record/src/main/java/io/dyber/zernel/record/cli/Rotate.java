package io.dyber.zernel.record.cli;

import io.dyber.zernel.format.SizeText;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// When a file of a series is full: a [Time] of at least a second, or a size of at least 1MB.
record Rotate(Optional<Duration> time, OptionalLong bytes) {
    /// Reads `1h` or `1GB`.
    static final class Converter implements ITypeConverter<Rotate> {
        @Override
        public Rotate convert(String text) {
            OptionalLong size = SizeText.parse(text);
            if (size.isPresent()) {
                return new Rotate(
                        Optional.empty(), OptionalLong.of(atLeast(text, size.getAsLong(), 1_000_000, "1MB")));
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
