package io.dyber.zernel.serve.cli;

import io.dyber.zernel.format.TimeText;
import io.dyber.zernel.serve.otlp.OtlpTarget;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine;

/// The options of `zernel serve` about pushing what it serves to an OpenTelemetry Collector.
final class OtlpOptions {
    private static final Duration LEAST = Duration.ofSeconds(1);
    private static final Duration MOST = Duration.ofHours(1);

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init")
    private CommandSpec spec;

    @Option(names = "--otlp", paramLabel = "URL",
            description = "Push to a Collector, too: http://HOST:4318. Headers: $" + OtlpTarget.HEADERS)
    private @Nullable String url;

    @Option(names = "--otlp-interval", paramLabel = "TIME", defaultValue = "10s", converter = IntervalConverter.class,
            description = "Time between pushes. Default: ${DEFAULT-VALUE}")
    private Duration interval = Duration.ofSeconds(10);

    /// Where to push; empty where that was not asked for.
    ///
    /// @param log told one line when pushes no longer arrive, and when they do again
    /// @throws CommandLine.ParameterException if nobody can be pushed to by these words
    Optional<OtlpTarget> target(Consumer<String> log) {
        if (url == null) {
            return Optional.empty();
        }
        try {
            String headers = Optional.ofNullable(System.getenv(OtlpTarget.HEADERS)).orElse("");
            return Optional.of(
                    new OtlpTarget(OtlpTarget.parseBase(url), interval, OtlpTarget.parseHeaders(headers), log));
        } catch (IllegalArgumentException e) {
            throw new CommandLine.ParameterException(spec.commandLine(), String.valueOf(e.getMessage()));
        }
    }

    /// Reads times as people write them; a bare number is seconds.
    static final class IntervalConverter implements CommandLine.ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            return TimeText.parse(text.matches("\\d+") ? text + "s" : text)
                    .filter(time -> time.compareTo(LEAST) >= 0 && time.compareTo(MOST) <= 0)
                    .orElseThrow(() -> new CommandLine.TypeConversionException(
                            "'" + text + "' is not a time from 1s to 1h (e.g. 10s, 1m)"));
        }
    }
}
