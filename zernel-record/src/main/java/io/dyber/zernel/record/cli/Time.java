package io.dyber.zernel.record.cli;

import io.dyber.zernel.format.TimeText;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// Times as people write them: `10s`, `5m`, `1h`, `250ms`, `50us`; a bare number is seconds.
final class Time implements ITypeConverter<Duration> {
    @Override
    public Duration convert(String text) {
        return TimeText.parse(text.matches("\\d+") ? text + "s" : text).orElseThrow(() ->
                new TypeConversionException("'" + text + "' is not a duration (e.g. 10s, 5m, 1h, 250ms, 50us)"));
    }
}
