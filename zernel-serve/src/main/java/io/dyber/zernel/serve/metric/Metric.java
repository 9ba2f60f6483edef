package io.dyber.zernel.serve.metric;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// One family of metrics: what it is called, what it means, and which events feed it.
///
/// @param name as Prometheus shows it
/// @param type what kind of number it is
/// @param help one sentence
/// @param labels names of the labels, in order
/// @param feed the events that feed it; null where something else computes it
public record Metric(String name, Type type, String help, List<String> labels, @Nullable Feed feed) {
    /// What names end in, and how UCUM writes it.
    private static final Map<String, String> UNITS = Map.of(
            "bytes_per_second", "By/s",
            "seconds", "s",
            "bytes", "By",
            "ratio", "1",
            "watts", "W",
            "joules", "J",
            "celsius", "Cel",
            "hertz", "Hz");

    /// The label that is added to `pid` where the process has a rank.
    public static final String RANK = "rank";

    /// The kinds of numbers. A summary holds durations in nanoseconds and shows seconds; an info is always 1, and its labels
    /// say what is to be said.
    public enum Type {
        GAUGE(""),
        COUNTER("_total"),
        SUMMARY(""),
        INFO("_info");

        private final String suffix;

        Type(String suffix) {
            this.suffix = suffix;
        }

        /// What the names of its metrics end in, and no others.
        public String suffix() {
            return suffix;
        }

        /// As Prometheus' text format calls it, which has no infos.
        public String label() {
            return (this == INFO ? GAUGE : this).name().toLowerCase(Locale.ROOT);
        }
    }

    /// What an event adds to its series.
    public enum Amount {
        /// One.
        ONE,
        /// One, or the event's `count` where it stands for so many calls.
        CALLS,
        /// The event's `dur_ns`; an event without one feeds nothing.
        DURATION,
        /// The event's `dur_ns`, but nothing where it stands for many calls.
        CALL_DURATION,
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
    /// @param names the events' names, with commas between them; `*` at the end of one stands for anything
    /// @param scale what the amount is multiplied by; durations are in nanoseconds whatever it is
    public record Feed(String kind, String names, Amount amount, double scale) {
        /// Whether events of this kind and name feed the metric.
        public boolean accepts(@Nullable String eventKind, @Nullable String eventName) {
            return (kind.equals("*") || kind.equals(eventKind)) && acceptsName(eventName == null ? "" : eventName);
        }

        private boolean acceptsName(String eventName) {
            return Arrays.stream(names.split(",")).anyMatch(one -> one.endsWith("*")
                    ? eventName.startsWith(one.substring(0, one.length() - 1))
                    : eventName.equals(one));
        }
    }

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

    static Metric info(String name, String help, String... labels) {
        return new Metric(name, Type.INFO, help, List.of(labels), null);
    }

    /// This metric, fed by all events of `kind`.
    Metric from(String kind, Amount amount) {
        return from(kind, "*", amount, 1);
    }

    /// This metric, fed by the events of `kind` with this name.
    Metric from(String kind, String names, Amount amount) {
        return from(kind, names, amount, 1);
    }

    /// This metric, whose value is the latest `gpu_sample` with this name, or one of these with commas between them, times
    /// `scale`.
    Metric sampled(String name, double scale) {
        return from("gpu_sample", name, Amount.VALUE, scale);
    }

    Metric from(String kind, String names, Amount amount, double scale) {
        return new Metric(name, type, help, labels, new Feed(kind, names, amount, scale));
    }

    /// Whether its values are the latest that was sampled, which do not add up.
    public boolean isSampled() {
        return feed != null && feed.amount() == Amount.VALUE;
    }

    /// Whether its series are those of processes, which have the label [#RANK] too where they have a rank.
    public boolean isRanked() {
        return labels.contains("pid") && !labels.contains(RANK);
    }

    /// The names of all labels that its series may have, in order.
    public List<String> allLabels() {
        return isRanked() ? Stream.concat(labels.stream(), Stream.of(RANK)).toList() : labels;
    }

    /// The labels' names and these values, in order.
    public Map<String, String> labelled(List<String> values) {
        Map<String, String> labelled = new LinkedHashMap<>();
        for (int i = 0; i < values.size(); i++) {
            labelled.put(labels.get(i), values.get(i));
        }
        return labelled;
    }

    /// The unit, as the name's suffix says it: `seconds`, `bytes`, `ratio`, ..., or empty.
    public String unit() {
        String stem = stem();
        return UNITS.keySet().stream().filter(unit -> stem.endsWith("_" + unit)).findFirst().orElse("");
    }

    /// The unit in UCUM, as OpenTelemetry has it: `s`, `By`, `1`, ..., or empty.
    public String ucum() {
        return UNITS.getOrDefault(unit(), "");
    }

    /// The name without the suffix of its type: a counter's `_total`, an info's `_info`.
    public String stem() {
        return name.substring(0, name.length() - type.suffix().length());
    }
}
