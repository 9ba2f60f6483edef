package io.dyber.zernel.serve.live;

import io.dyber.zernel.serve.metric.Metric;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

/// All series: for each metric its label values and what was counted for them. Bounded: label values beyond a limit
/// share the series `other`.
///
/// Not thread-safe.
public final class SeriesTable {
    /// The label value of everything that has no series of its own.
    public static final String OTHER = "other";

    static final int SERIES_PER_METRIC = 1000;

    private final IdentityHashMap<Metric, Map<List<String>, Sum>> numbers = new IdentityHashMap<>();
    private final IdentityHashMap<Metric, Map<List<String>, Durations>> durations = new IdentityHashMap<>();
    private final int mostDurations;

    /// A counter's or gauge's value, changed in place.
    public static final class Sum {
        public double value;

        public double value() {
            return value;
        }
        /// When a sample last said so; 0 where it is no sample.
        long sampledNanos;

        private double lastRead;
        private double base;
        private long shiftNanos;

        /// What a device counts itself. A replay that begins again reads lower numbers than before, and this counts on.
        ///
        /// @param atShiftNanos by how much the replay's round is later than the recording
        void count(double read, long atShiftNanos) {
            if (sampledNanos != 0 && atShiftNanos != shiftNanos) {
                base += lastRead - read;
            }
            shiftNanos = atShiftNanos;
            lastRead = read;
            value = base + read;
        }
    }

    /// @param mostDurations series that a metric of durations has at most, besides the one that the others share
    SeriesTable(List<Metric> metrics, int mostDurations) {
        this.mostDurations = mostDurations;
        for (Metric metric : metrics) {
            switch (metric.type()) {
                case SUMMARY -> durations.put(metric, new LinkedHashMap<>());
                case COUNTER, GAUGE, INFO -> numbers.put(metric, new LinkedHashMap<>());
            }
        }
    }

    /// Of metrics without durations.
    public static SeriesTable of(List<Metric> metrics) {
        return new SeriesTable(metrics, SERIES_PER_METRIC);
    }

    public Sum number(Metric metric, List<String> labels) {
        Map<List<String>, Sum> series = numbers(metric);
        Sum known = series.get(labels);
        return known != null ? known : series.computeIfAbsent(bounded(series, SERIES_PER_METRIC, labels), _ -> new Sum());
    }

    public Durations durations(Metric metric, List<String> labels) {
        Map<List<String>, Durations> series = durations(metric);
        Durations known = series.get(labels);
        return known != null ? known : series.computeIfAbsent(bounded(series, mostDurations, labels), _ -> new Durations());
    }

    public Map<List<String>, Sum> numbers(Metric metric) {
        return numbers.getOrDefault(metric, Map.of());
    }

    public Map<List<String>, Durations> durations(Metric metric) {
        return durations.getOrDefault(metric, Map.of());
    }

    /// Drops what was last sampled before `nanos`.
    void forgetSamplesBefore(long nanos) {
        numbers.values().forEach(series ->
                series.values().removeIf(sum -> sum.sampledNanos != 0 && sum.sampledNanos < nanos));
    }

    /// Drops what devices and processes were sampled at last. What a device counts stays.
    void forgetSampledGauges() {
        numbers.forEach((metric, series) -> {
            if (metric.isSampled() && metric.type() == Metric.Type.GAUGE) {
                series.clear();
            }
        });
    }

    /// The label values and durations of the series with most events.
    public Optional<Map.Entry<List<String>, Durations>> busiest(Metric metric) {
        return durations(metric).entrySet().stream()
                .max(Comparator.comparingLong(entry -> entry.getValue().count()))
                .filter(entry -> entry.getValue().count() > 0);
    }

    /// Adds what was counted for a `pid` to the series of pid `other`, and removes all its series: what was sampled is no sum.
    void fold(String pid) {
        numbers.forEach((metric, series) -> {
            if (metric.isSampled()) {
                foldInto(metric, series, pid, OTHER, (_, _) -> {});
            }
        });
        foldCounts(pid, OTHER);
    }

    /// Adds what was counted for a `pid` to what was for another, and removes it. What was sampled stays: it is no sum.
    void foldCounts(String pid, String into) {
        numbers.forEach((metric, series) -> {
            if (!metric.isSampled()) {
                foldInto(metric, series, pid, into, (labels, old) -> number(metric, labels).value += old.value);
            }
        });
        durations.forEach((metric, series) -> foldInto(metric, series, pid, into,
                (labels, old) -> durations(metric, labels).add(old)));
    }

    private static <S> void foldInto(
            Metric metric, Map<List<String>, S> series, String pid, String into, BiConsumer<List<String>, S> add) {
        int position = metric.labels().indexOf("pid");
        if (position < 0) {
            return;
        }
        Map<List<String>, S> leaving = new HashMap<>();
        series.forEach((labels, value) -> {
            if (labels.get(position).equals(pid)) {
                leaving.put(labels, value);
            }
        });
        leaving.forEach((labels, value) -> {
            series.remove(labels);
            add.accept(with(labels, position, into), value);
        });
    }

    private static List<String> bounded(Map<List<String>, ?> series, int most, List<String> labels) {
        if (series.size() < most || labels.isEmpty()) {
            return List.copyOf(labels);
        }
        return labels.stream().map(_ -> OTHER).toList();
    }

    private static List<String> with(List<String> labels, int position, String value) {
        String[] values = labels.toArray(new String[0]);
        values[position] = value;
        return List.of(values);
    }
}
