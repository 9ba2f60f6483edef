package io.dyber.zernel.format;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Lengths of time as people write and read them.
public final class TimeText {
    private static final Pattern FORM = Pattern.compile("(\\d{1,9})(us|ms|s|m|h|d)");

    /// So many nanoseconds are a `long`.
    private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);

    private TimeText() {}

    /// Reads `50us`, `250ms`, `10s`, `5m`, `1h` or `2d`; empty for anything else, also for more than 292 years.
    public static Optional<Duration> parse(String text) {
        Matcher matcher = FORM.matcher(text);
        return matcher.matches()
                ? Optional.of(of(Long.parseLong(matcher.group(1)), matcher.group(2))).filter(time -> time.compareTo(LONGEST) <= 0)
                : Optional.empty();
    }

    private static Duration of(long number, String unit) {
        return switch (unit) {
            case "us" -> Duration.ofNanos(number * 1_000);
            case "ms" -> Duration.ofMillis(number);
            case "s" -> Duration.ofSeconds(number);
            case "m" -> Duration.ofMinutes(number);
            case "h" -> Duration.ofHours(number);
            default -> Duration.ofDays(number);
        };
    }

    /// `1234567` is `1.23 ms`, `125e9` is `2 m 05 s`.
    public static String of(long nanos) {
        return of((double) nanos);
    }

    /// Of a mean.
    public static String of(double nanos) {
        if (nanos >= 100e9) {
            long seconds = Math.round(nanos / 1e9);
            return String.format(Locale.ROOT, "%d m %02d s", seconds / 60, seconds % 60);
        }
        return Scaled.of(nanos, "ns", "us", "ms", "s");
    }
}
