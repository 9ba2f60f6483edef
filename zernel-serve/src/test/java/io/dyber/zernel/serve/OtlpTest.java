package io.dyber.zernel.serve;

import static io.opentelemetry.proto.metrics.v1.AggregationTemporality.AGGREGATION_TEMPORALITY_CUMULATIVE;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.format.Version;
import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.analysis.Findings;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.live.SeriesPolicy;
import io.dyber.zernel.serve.live.SeriesTable;
import io.dyber.zernel.serve.metric.Buckets;
import io.dyber.zernel.serve.metric.CommonLabels;
import io.dyber.zernel.serve.otlp.Collector;
import io.dyber.zernel.serve.otlp.Otlp;
import io.dyber.zernel.serve.otlp.OtlpIdentity;
import io.dyber.zernel.serve.otlp.OtlpTarget;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.metrics.v1.HistogramDataPoint;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import io.opentelemetry.proto.metrics.v1.SummaryDataPoint;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// That a Collector is told what `/metrics` shows.
@Timeout(60)
final class OtlpTest {
    private static final long NOW = EveryKind.START + 1_000_000_000L;

    @AutoClose
    private final Collector collector = Collector.start(0);

    @Test
    void everyValueIsThatOfTheExposition() throws Exception {
        LiveMetrics live = live(SeriesPolicy.of(3));
        assertThat(flat(push(live))).isEqualTo(exposition(live)).hasSizeGreaterThan(100);
    }

    @Test
    void histogramsAreThoseOfTheExposition() throws Exception {
        LiveMetrics live = live(SeriesPolicy.of(3).withHistograms());
        ExportMetricsServiceRequest pushed = push(live);
        assertThat(flat(pushed)).isEqualTo(exposition(live)).hasSizeGreaterThan(100);
        HistogramDataPoint reads =
                Collector.family(pushed, "zernel_io_seconds").getHistogram().getDataPoints(0);
        assertThat(reads.getExplicitBoundsList()).hasSize(22).startsWith(1e-5, 2e-5, 5e-5, 1e-4).endsWith(50.0, 100.0);
        assertThat(reads.getBucketCountsList()).hasSize(23);
        assertThat(reads.getBucketCounts(4)).as("200 us").isEqualTo(1);
        assertThat(reads.getCount()).isEqualTo(1);
        assertThat(reads.getSum()).isEqualTo(2e-4);
        assertThat(reads.hasMin() || reads.hasMax()).isFalse();
    }

    @Test
    void aCounterIsACumulativeSumSinceItWas0() throws Exception {
        LiveMetrics live = live(SeriesPolicy.of(3));
        Metric bytes = Collector.family(push(live), "zernel_io_bytes_total");
        assertThat(bytes.getDescription()).isEqualTo("Bytes read by system calls.");
        assertThat(bytes.getUnit()).isEqualTo("By");
        assertThat(bytes.getSum().getIsMonotonic()).isTrue();
        assertThat(bytes.getSum().getAggregationTemporality()).isEqualTo(AGGREGATION_TEMPORALITY_CUMULATIVE);
        NumberDataPoint point = bytes.getSum().getDataPoints(0);
        assertThat(point.getAsDouble()).isEqualTo(1000);
        assertThat(Collector.attributes(point.getAttributesList())).isEqualTo(Map.of("pid", "2"));
        assertThat(point.getStartTimeUnixNano()).isEqualTo(since(live)).isLessThan(point.getTimeUnixNano());
    }

    @Test
    void aCounterOfADeviceBeganNobodyKnowsWhen() throws Exception {
        NumberDataPoint energy = Collector.family(push(live(SeriesPolicy.of(3))), "zernel_gpu_energy_joules_total")
                .getSum()
                .getDataPoints(0);
        assertThat(energy.getAsDouble()).isEqualTo(5000);
        assertThat(energy.getStartTimeUnixNano()).isZero();
    }

    @Test
    void aGaugeHasItsUnitAndTheRankOfItsProcess() throws Exception {
        ExportMetricsServiceRequest pushed = push(live(SeriesPolicy.of(3)));
        Metric used = Collector.family(pushed, "zernel_gpu_memory_used_bytes");
        assertThat(used.getUnit()).isEqualTo("By");
        assertThat(used.getGauge().getDataPoints(0).getAsDouble()).isEqualTo(3000);
        assertThat(Collector.attributes(used.getGauge().getDataPoints(0).getAttributesList()))
                .isEqualTo(Map.of("pid", "1", "gpu_id", "1", "rank", "0"));
        Map<String, String> units = Map.of(
                "zernel_gpu_sm_active_ratio", "1",
                "zernel_gpu_temperature_celsius", "Cel",
                "zernel_gpu_power_watts", "W",
                "zernel_gpu_sm_clock_hertz", "Hz",
                "zernel_gpu_pcie_sent_bytes_per_second", "By/s",
                "zernel_alerts", "");
        units.forEach((name, unit) -> assertThat(Collector.family(pushed, name).getUnit()).as(name).isEqualTo(unit));
    }

    @Test
    void aSummaryHasItsQuantilesCountAndSum() throws Exception {
        LiveMetrics live = live(SeriesPolicy.of(3));
        Metric steps = Collector.family(push(live), "zernel_step_seconds");
        assertThat(steps.getUnit()).isEqualTo("s");
        SummaryDataPoint point = steps.getSummary().getDataPoints(0);
        assertThat(point.getCount()).isEqualTo(1);
        assertThat(point.getSum()).isEqualTo(0.1);
        assertThat(point.getQuantileValuesList().stream().map(SummaryDataPoint.ValueAtQuantile::getQuantile))
                .containsExactly(0.5, 0.99);
        assertThat(point.getStartTimeUnixNano()).isEqualTo(since(live));
    }

    @Test
    void theResourceSaysWhoPushes() throws Exception {
        CommonLabels labels = CommonLabels.parse(List.of("cluster=a", "team=vision"));
        ExportMetricsServiceRequest pushed = push(live(SeriesPolicy.of(3).with(labels)));
        assertThat(Collector.attributes(pushed.getResourceMetrics(0).getResource().getAttributesList())).isEqualTo(Map.of(
                "service.name", "zernel",
                "service.version", Version.current(),
                "service.instance.id", "node7:9091",
                "host.name", "node7",
                "cluster", "a",
                "team", "vision"));
        assertThat(pushed.getResourceMetrics(0).getScopeMetrics(0).getScope().getName()).isEqualTo("io.dyber.zernel");
        NumberDataPoint ended = Collector.family(pushed, "zernel_source_ended").getGauge().getDataPoints(0);
        assertThat(ended.getAttributesList()).isEmpty();
    }

    /// Values that give every metric a series.
    private static LiveMetrics live(SeriesPolicy policy) {
        Alerting alerting = new Alerting(AlertRules.defaults(), _ -> {});
        LiveMetrics live = new LiveMetrics(policy, EveryKind.inferences(), new LiveMetrics.Watcher() {
            @Override
            public void second(LiveMetrics.View view) {
                alerting.second(view);
            }

            @Override
            public void export(SeriesTable series) {
                alerting.export(series);
                FindingSeries.export(series, EveryKind.findings());
            }
        });
        live.facts(EveryKind::facts);
        live.apply(EveryKind.events().batch());
        return live;
    }

    /// What the last push says.
    private ExportMetricsServiceRequest push(LiveMetrics live) throws InterruptedException {
        AtomicReference<CommonLabels> labels = new AtomicReference<>(CommonLabels.NONE);
        live.read(NOW, false, view -> labels.set(view.policy().labels()));
        Otlp.start(
                        new OtlpTarget(collector.base(), Duration.ofHours(1), Map.of(), _ -> {}),
                        new OtlpIdentity("node7", "node7:9091", labels.get()),
                        reader -> live.read(NOW, false, reader),
                        () -> new Findings(0, "", "", List.of(), List.of()))
                .close();
        return collector.nextMetrics();
    }

    private static Map<String, Double> exposition(LiveMetrics live) {
        AtomicReference<String> text = new AtomicReference<>("");
        live.read(NOW, false, view -> text.set(Exposition.of(view, Exposition.Format.TEXT)));
        return PrometheusText.parse(text.get()).values();
    }

    private static long since(LiveMetrics live) {
        AtomicReference<Instant> since = new AtomicReference<>(Instant.EPOCH);
        live.read(NOW, false, view -> since.set(view.since()));
        return ChronoUnit.NANOS.between(Instant.EPOCH, since.get());
    }

    /// The points as the series of a scrape.
    private static Map<String, Double> flat(ExportMetricsServiceRequest pushed) {
        Map<String, Double> series = new TreeMap<>();
        pushed.getResourceMetrics(0).getScopeMetrics(0).getMetricsList().forEach(metric -> {
            String name = metric.getName();
            switch (metric.getDataCase()) {
                case GAUGE -> metric.getGauge().getDataPointsList().forEach(
                        point -> series.put(name(name, point.getAttributesList(), Map.of()), point.getAsDouble()));
                case SUM -> metric.getSum().getDataPointsList().forEach(
                        point -> series.put(name(name, point.getAttributesList(), Map.of()), point.getAsDouble()));
                case SUMMARY -> metric.getSummary().getDataPointsList().forEach(point -> add(series, name, point));
                case HISTOGRAM -> metric.getHistogram().getDataPointsList().forEach(point -> add(series, name, point));
                default -> throw new AssertionError(metric);
            }
        });
        return series;
    }

    private static void add(Map<String, Double> series, String name, SummaryDataPoint point) {
        List<KeyValue> labels = point.getAttributesList();
        point.getQuantileValuesList().forEach(one -> series.put(
                name(name, labels, Map.of("quantile", Double.toString(one.getQuantile()))), one.getValue()));
        series.put(name(name + "_count", labels, Map.of()), (double) point.getCount());
        series.put(name(name + "_sum", labels, Map.of()), point.getSum());
    }

    private static void add(Map<String, Double> series, String name, HistogramDataPoint point) {
        List<KeyValue> labels = point.getAttributesList();
        double cumulated = 0;
        for (int i = 0; i < point.getBucketCountsCount(); i++) {
            cumulated += point.getBucketCounts(i);
            String bound = i < point.getExplicitBoundsCount() ? Double.toString(point.getExplicitBounds(i)) : "+Inf";
            series.put(name(name + "_bucket", labels, Map.of("le", bound)), cumulated);
        }
        assertThat(point.getBucketCountsCount()).isEqualTo(Buckets.LABELS.size());
        series.put(name(name + "_count", labels, Map.of()), (double) point.getCount());
        series.put(name(name + "_sum", labels, Map.of()), point.getSum());
    }

    /// As [PrometheusText] writes it.
    private static String name(String name, List<KeyValue> attributes, Map<String, String> more) {
        Map<String, String> labels = new TreeMap<>(Collector.attributes(attributes));
        labels.putAll(more);
        List<String> written = labels.entrySet().stream()
                .map(label -> label.getKey() + "=\"" + label.getValue() + "\"")
                .toList();
        return name + (written.isEmpty() ? "" : "{" + String.join(",", written) + "}");
    }
}
