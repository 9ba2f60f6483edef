package io.dyber.zernel.serve;

import io.dyber.zernel.serve.live.Durations.Window;
import io.dyber.zernel.serve.live.Durations;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.metric.Buckets;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.Quantile;
import io.prometheus.metrics.model.snapshots.Quantiles;
import io.prometheus.metrics.model.snapshots.SummarySnapshot.SummaryDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import io.prometheus.metrics.model.snapshots.Unit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// The series written by Prometheus' own client_java: what [Exposition] is compared with.
final class ClientJavaExposition {
    private static final double[] QUANTILES =
            Metrics.QUANTILES.stream().mapToDouble(Double::parseDouble).toArray();

    private ClientJavaExposition() {}

    static MetricSnapshots of(LiveMetrics.View view) {
        List<MetricSnapshot> families = new ArrayList<>();
        for (Metric metric : Metrics.ALL) {
            if (view.series().numbers(metric).isEmpty() && view.series().durations(metric).isEmpty()) {
                continue;
            }
            families.add(switch (metric.type()) {
                case GAUGE -> gauge(metric, view);
                case COUNTER -> counter(metric, view);
                case SUMMARY -> view.policy().histograms() ? histogram(metric, view) : summary(metric, view);
                case INFO -> info(metric, view);
            });
        }
        return new MetricSnapshots(families);
    }

    private static MetricSnapshot gauge(Metric metric, LiveMetrics.View view) {
        GaugeSnapshot.Builder builder = named(GaugeSnapshot.builder(), metric);
        view.series().numbers(metric).forEach((values, sum) -> builder.dataPoint(GaugeDataPointSnapshot.builder()
                .labels(labels(view, metric, values))
                .value(sum.value())
                .build()));
        return builder.build();
    }

    private static MetricSnapshot info(Metric metric, LiveMetrics.View view) {
        InfoSnapshot.Builder builder = named(InfoSnapshot.builder(), metric);
        view.series().numbers(metric).forEach((values, _) -> builder.dataPoint(InfoDataPointSnapshot.builder()
                .labels(labels(view, metric, values))
                .build()));
        return builder.build();
    }

    private static MetricSnapshot counter(Metric metric, LiveMetrics.View view) {
        CounterSnapshot.Builder builder = named(CounterSnapshot.builder(), metric);
        view.series().numbers(metric).forEach((values, sum) -> builder.dataPoint(CounterDataPointSnapshot.builder()
                .labels(labels(view, metric, values))
                .value(sum.value())
                .build()));
        return builder.build();
    }

    private static MetricSnapshot summary(Metric metric, LiveMetrics.View view) {
        SummarySnapshot.Builder builder = named(SummarySnapshot.builder(), metric);
        view.series().durations(metric).forEach((values, durations) -> builder.dataPoint(
                SummaryDataPointSnapshot.builder()
                        .labels(labels(view, metric, values))
                        .count(durations.count())
                        .sum(durations.sumSeconds())
                        .quantiles(quantiles(durations, view.nowNanos()))
                        .build()));
        return builder.build();
    }

    private static MetricSnapshot histogram(Metric metric, LiveMetrics.View view) {
        HistogramSnapshot.Builder builder = named(HistogramSnapshot.builder(), metric);
        view.series().durations(metric).forEach((values, durations) -> builder.dataPoint(
                HistogramDataPointSnapshot.builder()
                        .labels(labels(view, metric, values))
                        .classicHistogramBuckets(buckets(durations.cumulatedBuckets()))
                        .sum(durations.sumSeconds())
                        .build()));
        return builder.build();
    }

    private static ClassicHistogramBuckets buckets(long[] cumulated) {
        ClassicHistogramBuckets.Builder buckets = ClassicHistogramBuckets.builder();
        for (int i = 0; i < cumulated.length; i++) {
            String bound = Buckets.LABELS.get(i);
            buckets.bucket(
                    bound.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(bound),
                    cumulated[i] - (i == 0 ? 0 : cumulated[i - 1]));
        }
        return buckets.build();
    }

    private static <B extends MetricSnapshot.Builder<B>> B named(B builder, Metric metric) {
        builder.name(metric.stem()).help(metric.help());
        return metric.unit().isEmpty() ? builder : builder.unit(new Unit(metric.unit()));
    }

    private static Quantiles quantiles(Durations durations, long nowNanos) {
        List<Quantile> quantiles = new ArrayList<>();
        for (double quantile : QUANTILES) {
            quantiles.add(new Quantile(quantile, durations.seconds(Window.MINUTE, quantile, nowNanos)));
        }
        return Quantiles.of(quantiles);
    }

    private static Labels labels(LiveMetrics.View view, Metric metric, List<String> values) {
        Map<String, String> labels = view.labels(metric, values);
        return Labels.of(List.copyOf(labels.keySet()), List.copyOf(labels.values()));
    }
}
