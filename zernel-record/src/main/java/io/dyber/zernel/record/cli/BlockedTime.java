package io.dyber.zernel.record.cli;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;

/// A [Time], or `off`, which is zero.
final class BlockedTime implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String text) {
        return text.equals("off") ? Duration.ZERO : new Time().convert(text);
    }
}
