package io.dyber.zernel.serve;

import io.dyber.zernel.serve.live.Durations.Window;
import io.dyber.zernel.serve.live.Durations;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
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
                case SUMMARY -> summary(metric, view);
            });
        }
        return new MetricSnapshots(families);
    }

    private static MetricSnapshot gauge(Metric metric, LiveMetrics.View view) {
        GaugeSnapshot.Builder builder = named(GaugeSnapshot.builder(), metric);
        view.series().numbers(metric).forEach((values, sum) -> builder.dataPoint(GaugeDataPointSnapshot.builder()
                .labels(labels(metric, values))
                .value(sum.value())
                .build()));
        return builder.build();
    }

    private static MetricSnapshot counter(Metric metric, LiveMetrics.View view) {
        CounterSnapshot.Builder builder = named(CounterSnapshot.builder(), metric);
        view.series().numbers(metric).forEach((values, sum) -> builder.dataPoint(CounterDataPointSnapshot.builder()
                .labels(labels(metric, values))
                .value(sum.value())
                .build()));
        return builder.build();
    }

    private static MetricSnapshot summary(Metric metric, LiveMetrics.View view) {
        SummarySnapshot.Builder builder = named(SummarySnapshot.builder(), metric);
        view.series().durations(metric).forEach((values, durations) -> builder.dataPoint(
                SummaryDataPointSnapshot.builder()
                        .labels(labels(metric, values))
                        .count(durations.count())
                        .sum(durations.sumSeconds())
                        .quantiles(quantiles(durations, view.nowNanos()))
                        .build()));
        return builder.build();
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

    private static Labels labels(Metric metric, List<String> values) {
        return Labels.of(metric.labels(), values);
    }
}
