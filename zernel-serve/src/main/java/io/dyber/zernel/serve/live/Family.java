package io.dyber.zernel.serve.live;

import io.dyber.zernel.serve.live.Durations.Window;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// A metric and its series as they are shown, whoever writes them down: `/metrics` and what is pushed show the same.
///
/// @param series at least one
public record Family(Metric metric, List<Series> series) {
    private static final List<Double> QUANTILES =
            Metrics.QUANTILES.stream().map(Double::valueOf).toList();

    /// One series. Its labels are its own, without those that the user gives to all.
    public sealed interface Series permits Value, Summary, Histogram {
        Map<String, String> labels();
    }

    /// Of a gauge, a counter or an info.
    public record Value(Map<String, String> labels, double value) implements Series {}

    /// Durations since the start, and their quantiles.
    ///
    /// @param quantileSeconds those of [Metrics#QUANTILES] over the last minute; NaN where it has nothing
    public record Summary(Map<String, String> labels, long count, double sumSeconds, List<Double> quantileSeconds)
            implements Series {}

    /// Durations since the start, counted in buckets.
    ///
    /// @param cumulated how many were at most so long as the bound of each of `Buckets.LABELS`; the last is all
    public record Histogram(Map<String, String> labels, long count, double sumSeconds, List<Long> cumulated)
            implements Series {}

    /// Those that have a series, one after the other, in the order of [Metrics#ALL].
    public static Stream<Family> all(LiveMetrics.View view) {
        return Metrics.ALL.stream()
                .map(metric -> new Family(metric, series(metric, view)))
                .filter(family -> !family.series().isEmpty());
    }

    private static List<Series> series(Metric metric, LiveMetrics.View view) {
        List<Series> shown = new ArrayList<>();
        view.series().numbers(metric).forEach(
                (values, sum) -> shown.add(new Value(view.labels(metric, values), sum.value())));
        view.series().durations(metric).forEach(
                (values, durations) -> shown.add(durations(view.labels(metric, values), durations, view)));
        return shown;
    }

    private static Series durations(Map<String, String> labels, Durations durations, LiveMetrics.View view) {
        if (view.policy().histograms()) {
            List<Long> cumulated = Arrays.stream(durations.cumulatedBuckets()).boxed().toList();
            return new Histogram(labels, durations.count(), durations.sumSeconds(), cumulated);
        }
        List<Double> quantiles = QUANTILES.stream()
                .map(quantile -> durations.seconds(Window.MINUTE, quantile, view.nowNanos()))
                .toList();
        return new Summary(labels, durations.count(), durations.sumSeconds(), quantiles);
    }
}
