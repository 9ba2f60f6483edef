package io.dyber.zernel.serve;

import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// One family of metrics: what it is called, what it means, and which events feed it.
///
/// @param name as Prometheus shows it
/// @param type what kind of number it is
/// @param help one sentence
/// @param labels names of the labels, in order
/// @param feed the events that feed it; null where something else computes it
public record Metric(String name, Type type, String help, List<String> labels, @Nullable Feed feed) {
    /// The kinds of numbers. A summary holds durations in nanoseconds and shows seconds.
    public enum Type {
        GAUGE,
        COUNTER,
        SUMMARY
    }

    /// What an event adds to its series.
    public enum Amount {
        /// One.
        ONE,
        /// The event's `dur_ns`; an event without one feeds nothing.
        DURATION,
        /// The event's `bytes`; an event without any feeds nothing.
        BYTES,
        /// The event's `count`.
        COUNT,
        /// The event's `value` replaces the series' value.
        VALUE
    }

    /// Which events feed a metric, and how much each.
    ///
    /// @param kind the events' kind, or `*` for all
    /// @param name which names; every name when it accepts all
    public record Feed(String kind, Predicate<@Nullable String> name, Amount amount) {}

    public Metric {
        labels = List.copyOf(labels);
    }

    static Metric gauge(String name, String help, String... labels) {
        return new Metric(name, Type.GAUGE, help, List.of(labels), null);
    }

    static Metric counter(String name, String help, String... labels) {
        return new Metric(name, Type.COUNTER, help, List.of(labels), null);
    }

    static Metric summary(String name, String help, String... labels) {
        return new Metric(name, Type.SUMMARY, help, List.of(labels), null);
    }

    /// This metric, fed by all events of `kind`.
    Metric from(String kind, Amount amount) {
        return from(kind, _ -> true, amount);
    }

    /// This metric, fed by the events of `kind` whose name `names` accepts.
    Metric from(String kind, Predicate<@Nullable String> names, Amount amount) {
        return new Metric(name, type, help, labels, new Feed(kind, names, amount));
    }

    /// The unit, as the name's suffix says it: `seconds`, `bytes`, `ratio`, or empty.
    public String unit() {
        String stem = name.endsWith("_total") ? name.substring(0, name.length() - "_total".length()) : name;
        return List.of("seconds", "bytes", "ratio").stream()
                .filter(unit -> stem.endsWith("_" + unit))
                .findFirst()
                .orElse("");
    }
}
