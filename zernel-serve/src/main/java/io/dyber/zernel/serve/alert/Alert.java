package io.dyber.zernel.serve.alert;

import io.dyber.zernel.serve.metric.CommonLabels;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/// A series that meets the condition of a rule, or did.
///
/// @param labels of the series; of a summary also its `quantile`
/// @param value the latest that was looked at
/// @param sinceNanos event time from which the condition held
/// @param atNanos event time at which it came into this state
public record Alert(
        AlertRule rule, Map<String, String> labels, State state, double value, long sinceNanos, long atNanos) {
    /// Where an alert stands.
    public enum State {
        /// The condition holds, but not long enough yet.
        PENDING,
        FIRING,
        /// The condition no longer holds.
        RESOLVED;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// The same with labels beside those of the series.
    public Alert with(CommonLabels common) {
        return new Alert(rule, common.with(labels), state, value, sinceNanos, atNanos);
    }

    /// When it came into this state.
    public Instant at() {
        return instant(atNanos);
    }

    /// `0.97 > 0.95 for 5 s`.
    public String condition() {
        String value = String.format(Locale.ROOT, "%.4g", value());
        return value + " " + rule.comparison().sign() + " " + AlertRule.plain(rule.threshold())
                + (rule.holdFor().isZero() ? "" : " for " + AlertRule.plain(rule.holdFor().toMillis() / 1e3) + " s");
    }

    /// What to say to people: `A GPU's memory is almost full (gpu_id 0): 0.9655 > 0.95`.
    public String sentence() {
        String summary = rule.summary().isEmpty() ? rule.name() : rule.summary();
        String where = labels.entrySet().stream()
                .map(label -> label.getKey() + " " + label.getValue())
                .collect(Collectors.joining(", ", " (", ")"));
        return (summary.endsWith(".") ? summary.substring(0, summary.length() - 1) : summary)
                + (labels.isEmpty() ? "" : where) + ": " + condition();
    }

    static Instant instant(long nanos) {
        return Instant.ofEpochSecond(Math.floorDiv(nanos, 1_000_000_000L), Math.floorMod(nanos, 1_000_000_000L));
    }
}
