package io.dyber.zernel.record.option;

import io.dyber.zernel.format.TimeText;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// What makes a flight recorder write its file.
public sealed interface Trigger {
    /// As the user wrote it.
    String text();

    /// A step of a training took so many times the median of those before. Steps are the times between two ends of
    /// `Optimizer.step#...` regions of a thread.
    record SlowStep(String text, double factor) implements Trigger {}

    /// An event of this kind or name took longer.
    record LongEvent(String text, String name, long nanos) implements Trigger {}

    /// Reads `step > 3x median` or `NAME > 500ms`.
    ///
    /// @throws IllegalArgumentException with one line for the user
    static Trigger parse(String text) {
        Matcher step = Pattern.compile("step\\s*>\\s*(\\d{1,4}(\\.\\d{1,3})?)\\s*x\\s*median").matcher(text.strip());
        if (step.matches() && Double.parseDouble(step.group(1)) > 1) {
            return new SlowStep(text, Double.parseDouble(step.group(1)));
        }
        Matcher event = Pattern.compile("(\\S.*?)\\s*>\\s*(\\d+[a-z]+)").matcher(text.strip());
        Optional<Duration> bound = event.matches() ? TimeText.parse(event.group(2)) : Optional.empty();
        if (bound.isPresent() && bound.get().isPositive()) {
            return new LongEvent(text, event.group(1), bound.get().toNanos());
        }
        throw new IllegalArgumentException(String.format(
                Locale.ROOT,
                "'%s' is not a trigger: write 'step > 3x median', 'KIND > 500ms' or 'NAME > 500ms'",
                text));
    }
}
