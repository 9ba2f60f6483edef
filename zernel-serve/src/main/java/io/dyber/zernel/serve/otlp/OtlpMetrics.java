package io.dyber.zernel.serve.otlp;

import static io.opentelemetry.sdk.metrics.data.AggregationTemporality.CUMULATIVE;

import io.dyber.zernel.serve.live.Family;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.metric.Buckets;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.GaugeData;
import io.opentelemetry.sdk.metrics.data.HistogramData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.data.SumData;
import io.opentelemetry.sdk.metrics.data.SummaryData;
import io.opentelemetry.sdk.metrics.data.SummaryPointData;
import io.opentelemetry.sdk.metrics.data.ValueAtQuantile;
import io.opentelemetry.sdk.metrics.internal.data.ImmutableMetricData;
import io.opentelemetry.sdk.resources.Resource;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.IntStream;

/// The families of `/metrics` as OpenTelemetry has them, with the same names, labels and values.
final class OtlpMetrics {
    private static final List<Double> QUANTILES =
            Metrics.QUANTILES.stream().map(Double::valueOf).toList();
    /// As OTLP says that nobody knows since when something counts.
    private static final long UNKNOWN = 0;

    /// What the server counts itself, also when a replay begins anew.
    private static final Set<Metric> OF_SERVER = Set.of(Metrics.ALERT_NOTIFICATIONS, Metrics.OTLP_FAILURES);

    private final Resource resource;
    private final InstrumentationScopeInfo scope;
    private final long serverStartNanos;
    private final long startNanos;
    private final long nowNanos;

    private OtlpMetrics(Resource resource, InstrumentationScopeInfo scope, Instant serverStart, Instant start) {
        this.resource = resource;
        this.scope = scope;
        this.serverStartNanos = nanos(serverStart);
        this.startNanos = nanos(start);
        this.nowNanos = nanos(Instant.now());
    }

    /// @param serverStart when what the server counts itself was 0
    static List<MetricData> of(
            LiveMetrics.View view, Resource resource, InstrumentationScopeInfo scope, Instant serverStart) {
        OtlpMetrics metrics = new OtlpMetrics(resource, scope, serverStart, view.since());
        return Family.all(view).map(metrics::family).toList();
    }

    private static long nanos(Instant time) {
        return ChronoUnit.NANOS.between(Instant.EPOCH, time);
    }

    /// All series of a family are of one kind.
    private MetricData family(Family family) {
        Metric metric = family.metric();
        return switch (family.series().getFirst()) {
            case Family.Value _ when metric.type() == Metric.Type.COUNTER -> ImmutableMetricData.createDoubleSum(
                    resource, scope, metric.name(), metric.help(), metric.ucum(),
                    SumData.createDoubleSumData(true, CUMULATIVE, points(family, Family.Value.class, counter -> count(metric, counter))));
            case Family.Value _ -> ImmutableMetricData.createDoubleGauge(
                    resource, scope, metric.name(), metric.help(), metric.ucum(),
                    GaugeData.createDoubleGaugeData(points(family, Family.Value.class, this::value)));
            case Family.Summary _ -> ImmutableMetricData.createDoubleSummary(
                    resource, scope, metric.name(), metric.help(), metric.ucum(),
                    SummaryData.create(points(family, Family.Summary.class, this::summary)));
            case Family.Histogram _ -> ImmutableMetricData.createDoubleHistogram(
                    resource, scope, metric.name(), metric.help(), metric.ucum(),
                    HistogramData.create(CUMULATIVE, points(family, Family.Histogram.class, this::histogram)));
        };
    }

    private static <S extends Family.Series, P> List<P> points(Family family, Class<S> kind, Function<S, P> point) {
        return family.series().stream().map(kind::cast).map(point).toList();
    }

    private DoublePointData count(Metric metric, Family.Value counter) {
        return DoublePointData.create(
                startNanos(metric), nowNanos, attributes(counter.labels()), counter.value(), List.of());
    }

    /// When a counter was 0. What a device counts, it does since its driver was loaded.
    private long startNanos(Metric counter) {
        if (counter.isSampled()) {
            return UNKNOWN;
        }
        return OF_SERVER.contains(counter) ? serverStartNanos : startNanos;
    }

    private DoublePointData value(Family.Value gauge) {
        return DoublePointData.create(0, nowNanos, attributes(gauge.labels()), gauge.value(), List.of());
    }

    private SummaryPointData summary(Family.Summary summary) {
        return SummaryPointData.create(startNanos, nowNanos, attributes(summary.labels()), summary.count(),
                summary.sumSeconds(), quantiles(summary));
    }

    private static List<ValueAtQuantile> quantiles(Family.Summary summary) {
        return IntStream.range(0, QUANTILES.size())
                .mapToObj(i -> ValueAtQuantile.create(QUANTILES.get(i), summary.quantileSeconds().get(i)))
                .toList();
    }

    private HistogramPointData histogram(Family.Histogram histogram) {
        return HistogramPointData.create(startNanos, nowNanos, attributes(histogram.labels()),
                histogram.sumSeconds(), false, 0, false, 0, Buckets.BOUNDS, counts(histogram.cumulated()));
    }

    /// How many are in each bucket alone.
    private static List<Long> counts(List<Long> cumulated) {
        return IntStream.range(0, cumulated.size())
                .mapToObj(i -> cumulated.get(i) - (i == 0 ? 0 : cumulated.get(i - 1)))
                .toList();
    }

    static Attributes attributes(Map<String, String> labels) {
        AttributesBuilder attributes = Attributes.builder();
        labels.forEach(attributes::put);
        return attributes.build();
    }
}
