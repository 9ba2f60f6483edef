package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.format.Version;
import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.live.SeriesPolicy;
import io.dyber.zernel.serve.live.SeriesTable;
import io.dyber.zernel.serve.metric.CommonLabels;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.Facts;
import io.dyber.zernel.serve.source.LongColumn;
import io.dyber.zernel.serve.source.TextColumn;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

final class ExpositionTest {
    private static final Path GOLDEN = Path.of("src/test/resources/io/dyber/zernel/serve/exposition.txt");
    private static final long MS = 1_000_000;

    private final Alerting alerting = new Alerting(AlertRules.defaults(), _ -> {});
    private final LiveMetrics live = new LiveMetrics(3, EveryKind.inferences(), new Watching(alerting));
    private long nowNanos = EveryKind.START + 1000 * MS;

    /// As the server does.
    private record Watching(Alerting alerting) implements LiveMetrics.Watcher {
        @Override
        public void second(LiveMetrics.View view) {
            alerting.second(view);
        }

        @Override
        public void export(SeriesTable series) {
            alerting.export(series);
            FindingSeries.export(series, EveryKind.findings());
            series.number(Metrics.OTLP_FAILURES, List.of("metrics", "failed")).value = 3;
        }
    }

    ExpositionTest() {
        live.overhead(OptionalDouble.of(0.004));
    }

    @Test
    void theExpositionIsTheGoldenOne() throws IOException {
        live.facts(EveryKind::facts);
        live.apply(EveryKind.events().batch());
        String version = "version=\"" + Version.current() + "\"";
        String actual = PrometheusText.parse(text("text/plain").replace(version, "version=\"this\"")).canonical();
        if (Boolean.getBoolean("golden.update")) {
            Files.createDirectories(GOLDEN.getParent());
            Files.writeString(GOLDEN, actual);
        }
        assertThat(actual).isEqualTo(Files.readString(GOLDEN));
    }

    /// The metrics that no event of [EveryKind] gives a series, or whose help or type is another.
    private List<String> missing(List<Metric> metrics) {
        PrometheusText text = PrometheusText.parse(text("text/plain"));
        return metrics.stream()
                .filter(metric -> !metric.type().label().equals(text.types().get(metric.name()))
                        || !metric.help().equals(text.helps().get(metric.name())))
                .map(Metric::name)
                .toList();
    }

    @Test
    void everyFamilyHasHelpAndTheTypeOfTheList() {
        live.facts(EveryKind::facts);
        live.apply(EveryKind.events().batch());
        assertThat(missing(Metrics.ALL)).isEmpty();
    }

    @Test
    void aMetricThatNothingFeedsIsNamed() {
        live.apply(EveryKind.events().batch());
        Metric unfed = new Metric("zernel_dummies_total", Metric.Type.COUNTER, "Dummies.", List.of("pid"), null);
        assertThat(missing(List.of(Metrics.STEPS, unfed))).containsExactly("zernel_dummies_total");
    }

    @Test
    void zerneldsFamiliesHaveItsNamesAndLabels() {
        live.apply(EveryKind.events().batch());
        assertThat(PrometheusText.parse(text("text/plain")).values())
                .containsEntry("zernel_gpu_memory_used_bytes{gpu_id=\"1\",pid=\"1\"}", 3000.0)
                .containsEntry("zernel_gpu_memory_peak_bytes{gpu_id=\"1\",pid=\"1\"}", 5000.0)
                .containsKey("zernel_cuda_launch_latency_seconds{pid=\"1\",quantile=\"0.5\"}")
                .containsKey("zernel_cuda_launch_latency_seconds{pid=\"1\",quantile=\"0.99\"}")
                .containsEntry("zernel_cuda_launch_latency_seconds_count{pid=\"1\"}", 2.0)
                .containsKey("zernel_cuda_launch_latency_seconds_sum{pid=\"1\"}")
                .containsKey("zernel_nccl_collective_duration_seconds{op=\"all_reduce\",pid=\"1\",quantile=\"0.99\"}")
                .containsKey("zernel_dataloader_wait_seconds{pid=\"1\",quantile=\"0.5\"}")
                .containsKey("zernel_dist_sync_wait_seconds{pid=\"2\",quantile=\"0.99\"}");
    }

    @Test
    void whoProcessesDevicesAndTheMachineAreIsSaidOnce() {
        live.facts(EveryKind::facts);
        live.apply(EveryKind.events().batch());
        assertThat(PrometheusText.parse(text("text/plain")).values())
                .containsEntry("zernel_process_info{cgroup=\"/kubepods.slice/kubepods-pod01234567_89ab_cdef_0123_456789abcdef"
                        + ".slice/cri-containerd-" + EveryKind.CONTAINER + ".scope\",comm=\"python3\",container=\""
                        + EveryKind.CONTAINER + "\",local_rank=\"0\",pid=\"1\",pod=\"01234567-89ab-cdef-0123-456789abcdef\","
                        + "rank=\"0\",world_size=\"2\"}", 1.0)
                .containsEntry("zernel_process_info{comm=\"python3\",pid=\"3\",rank=\"1\"}", 1.0)
                .containsEntry("zernel_process_info{pid=\"2\"}", 1.0)
                .containsEntry("zernel_gpu_info{gpu_id=\"1\",name=\"H100\",pci=\"00000000:3B:00.0\",uuid=\"GPU-1\"}", 1.0)
                .containsEntry("zernel_host_info{arch=\"x86_64\",driver=\"570.00.77\",host=\"node7\",kernel=\"6.8.0\"}", 1.0)
                .containsEntry("zernel_build_info{recorder=\"0.1.0\",version=\"" + Version.current() + "\"}", 1.0);
    }

    @Test
    void theNameThatAnEventSaidLastIsThatOfAProcess() {
        live.facts(EveryKind::facts);
        live.apply(new Events().add("io", "read", 3, EveryKind.START, MS).with(TextColumn.COMM, "renamed").batch());
        assertThat(PrometheusText.parse(text("text/plain")).values())
                .containsEntry("zernel_process_info{comm=\"renamed\",pid=\"3\",rank=\"1\"}", 1.0);
    }

    @Test
    void ofARecordingThatSaysNothingNobodyIsInvented() {
        live.apply(new Events().add("io", "read", 3, EveryKind.START, MS).batch());
        assertThat(text("text/plain"))
                .contains("zernel_process_info{pid=\"3\"} 1.0\n", "zernel_build_info{version=\"" + Version.current() + "\"} 1.0\n")
                .doesNotContain("zernel_host_info", "zernel_gpu_info", "rank=");
    }

    @Test
    void openMetricsHasInfosOfItsOwn() {
        assertThat(text("application/openmetrics-text; version=1.0.0"))
                .contains("# TYPE zernel_build info\n", "\nzernel_build_info{version=");
        assertThat(text("text/plain")).contains("# TYPE zernel_build_info gauge\n");
    }

    @Test
    void seriesOfAProcessHaveItsRank() {
        live.facts(EveryKind::facts);
        live.apply(EveryKind.events().batch());
        assertThat(PrometheusText.parse(text("text/plain")).values())
                .containsEntry("zernel_steps_total{pid=\"1\",rank=\"0\"}", 1.0)
                .containsEntry("zernel_nccl_collective_duration_seconds_count{op=\"all_reduce\",pid=\"3\",rank=\"1\"}", 1.0)
                .containsEntry("zernel_torch_memory_used_bytes{gpu_id=\"0\",pid=\"1\",rank=\"0\"}", 500.0)
                .containsEntry("zernel_io_bytes_total{pid=\"2\"}", 1000.0);
    }

    @Test
    void aRankThatBecomesKnownWhileRecordingIsShownFromThenOn() {
        AtomicReference<Facts> said = new AtomicReference<>(Facts.NONE);
        live.facts(said::get);
        live.apply(new Events().add("io", "read", 3, EveryKind.START, MS).batch());
        assertThat(text("text/plain")).contains("zernel_io_seconds_count{pid=\"3\"} 1\n");
        said.set(EveryKind.facts());
        live.facts(said::get);
        assertThat(text("text/plain")).contains("zernel_io_seconds_count{pid=\"3\",rank=\"1\"} 1\n");
    }

    @Test
    void aSeriesKeepsItsRankWhereALaterRecordingDoesNotKnowItsProcess() {
        live.facts(EveryKind::facts);
        live.apply(new Events().add("io", "read", 3, EveryKind.START, MS).batch());
        live.apply(EventBatch.endOfRecording());
        live.facts(() -> Facts.of(Map.of(Footer.PROCESSES, "[{\"pid\": 7, \"environment\": {\"RANK\": \"5\"}}]")));
        live.apply(new Events().add("io", "read", 7, EveryKind.START + MS, MS).add("io", "read", 1, EveryKind.START + MS, MS).batch());
        assertThat(text("text/plain")).contains(
                "zernel_io_seconds_count{pid=\"3\",rank=\"1\"} 1\n",
                "zernel_io_seconds_count{pid=\"7\",rank=\"5\"} 1\n",
                "zernel_io_seconds_count{pid=\"1\"} 1\n");
    }

    @Test
    void whatIsNoNumberIsNoRank() {
        live.facts(() -> Facts.of(Map.of(
                Footer.PROCESSES, "[{\"pid\": 1, \"environment\": {\"RANK\": \"first\"}}]")));
        live.apply(new Events().add("io", "read", 1, EveryKind.START, MS).batch());
        assertThat(text("text/plain")).contains("zernel_io_seconds_count{pid=\"1\"} 1\n");
    }

    @Test
    void aFindingIsThereOnceAndSaysHowMuchIsLostWhereItIsAboutTime() {
        assertThat(PrometheusText.parse(text("text/plain")).values())
                .containsEntry("zernel_finding_info{finding=\"data_bound\",severity=\"critical\",subject=\"rank 0 (pid 1)\","
                        + "title=\"Waiting for data\"}", 1.0)
                .containsEntry("zernel_finding_lost_seconds{finding=\"data_bound\",subject=\"rank 0 (pid 1)\"}", 0.03)
                .containsEntry("zernel_finding_info{finding=\"lost_events\",severity=\"warning\",subject=\"io\","
                        + "title=\"Events were lost\"}", 1.0)
                .doesNotContainKey("zernel_finding_lost_seconds{finding=\"lost_events\",subject=\"io\"}");
        assertThat(text("text/plain")).doesNotContain("finding=\"data_bound\",subject=\"rank 0 (pid 1)\",severity=\"warning\"");
    }

    @Test
    void everySeriesHasTheUsersLabelsAfterItsOwn() {
        CommonLabels labels = CommonLabels.parse(List.of("cluster=a", "team=\"x\""));
        LiveMetrics labelled =
                new LiveMetrics(SeriesPolicy.of(3).with(labels), EveryKind.inferences(), new Alerting(AlertRules.defaults(), _ -> {}));
        labelled.apply(EveryKind.events().batch());
        String text = text(labelled, "text/plain");
        assertThat(text.lines().filter(line -> !line.startsWith("#")))
                .hasSizeGreaterThan(100)
                .allMatch(line -> line.contains("cluster=\"a\",team=\"\\\"x\\\"\""));
        assertThat(PrometheusText.parse(text).values())
                .containsEntry("zernel_source_ended{cluster=\"a\",team=\"\\\"x\\\"\"}", 0.0);
    }

    @Test
    void openMetricsHasUnitsAndEndsWithItsMark() {
        live.apply(EveryKind.events().batch());
        assertThat(text("application/openmetrics-text; version=1.0.0"))
                .contains("# UNIT zernel_gpu_temperature_celsius celsius\n")
                .contains("# UNIT zernel_io_bytes bytes\n")
                .endsWith("# EOF\n");
    }

    @Test
    void clientJavaWritesTheSame() throws IOException {
        assertClientJavaWritesTheSame(live);
    }

    @Test
    void clientJavaWritesTheSameHistograms() throws IOException {
        assertClientJavaWritesTheSame(histograms());
    }

    private void assertClientJavaWritesTheSame(LiveMetrics metrics) throws IOException {
        metrics.facts(EveryKind::facts);
        metrics.apply(EveryKind.events().add("call", "operator\"\\\n<", 1, EveryKind.START + 900 * MS, MS).batch());
        ExpositionFormats formats = ExpositionFormats.init();
        for (String accept : List.of("text/plain", "application/openmetrics-text; version=1.0.0")) {
            ByteArrayOutputStream expected = new ByteArrayOutputStream();
            AtomicReference<MetricSnapshots> families = new AtomicReference<>(MetricSnapshots.of());
            metrics.read(nowNanos, false, view -> families.set(ClientJavaExposition.of(view)));
            formats.findWriter(accept).write(expected, families.get());
            PrometheusText theirs = PrometheusText.parse(expected.toString(StandardCharsets.UTF_8));
            PrometheusText ours = PrometheusText.parse(text(metrics, accept));
            assertThat(ours.canonical()).isEqualTo(theirs.canonical());
            assertThat(ours.helps()).containsExactlyInAnyOrderEntriesOf(theirs.helps());
        }
    }

    private static LiveMetrics histograms() {
        return new LiveMetrics(
                SeriesPolicy.of(3).withHistograms(), EveryKind.inferences(), new Alerting(AlertRules.defaults(), _ -> {}));
    }

    @Test
    void histogramsCountWhatWasAtMostSoLong() {
        LiveMetrics histograms = histograms();
        histograms.apply(new Events()
                .add("io", "read", 1, EveryKind.START, MS)
                .add("io", "read", 1, EveryKind.START, MS + 1)
                .add("io", "read", 1, EveryKind.START, 200_000 * MS)
                .batch());
        assertThat(text(histograms, "text/plain"))
                .contains("""
                        # TYPE zernel_io_seconds histogram
                        zernel_io_seconds_bucket{pid="1",le="1e-05"} 0
                        """)
                .contains("""
                        zernel_io_seconds_bucket{pid="1",le="0.0005"} 0
                        zernel_io_seconds_bucket{pid="1",le="0.001"} 1
                        zernel_io_seconds_bucket{pid="1",le="0.002"} 2
                        """)
                .contains("""
                        zernel_io_seconds_bucket{pid="1",le="100.0"} 2
                        zernel_io_seconds_bucket{pid="1",le="+Inf"} 3
                        zernel_io_seconds_count{pid="1"} 3
                        zernel_io_seconds_sum{pid="1"} 200.002000001
                        """)
                .doesNotContain("quantile=");
    }

    @Test
    void bucketsOfAProcessThatLosesItsSeriesGoToTheOthers() {
        LiveMetrics histograms = histograms();
        for (long pid = 1; pid <= 10; pid++) {
            histograms.apply(new Events().add("io", "read", pid, EveryKind.START, MS).batch());
        }
        for (int i = 0; i < 10; i++) {
            histograms.apply(new Events().add("io", "read", 10, EveryKind.START, MS).batch());
        }
        PrometheusText text = PrometheusText.parse(text(histograms, "text/plain"));
        double all = text.values().entrySet().stream()
                .filter(series -> series.getKey().startsWith("zernel_io_seconds_bucket{le=\"0.001\""))
                .mapToDouble(Map.Entry::getValue)
                .sum();
        assertThat(all).isEqualTo(20);
        assertThat(text.values()).containsEntry("zernel_io_seconds_bucket{le=\"5.0E-4\",pid=\"other\"}", 0.0);
    }

    @Test
    void aMetricHasFewerHistogramsThanSummaries() {
        LiveMetrics histograms = histograms();
        Events calls = new Events();
        for (int i = 0; i < 1000; i++) {
            calls.add("call", "function_" + i, 1, EveryKind.START, MS);
        }
        histograms.apply(calls.batch());
        Map<String, Double> values = PrometheusText.parse(text(histograms, "text/plain")).values();
        assertThat(values.keySet().stream().filter(series -> series.startsWith("zernel_call_seconds_count"))).hasSize(201);
        assertThat(values).containsEntry("zernel_call_seconds_count{name=\"other\",pid=\"other\"}", 800.0);
    }

    @Test
    void labelsWithAnyCharactersAreEscaped() {
        live.apply(new Events().add("call", "operator\"\\\n<", 1, EveryKind.START, MS).batch());
        assertThat(text("text/plain")).contains("name=\"operator\\\"\\\\\\n<\"");
    }

    @Test
    void aCallOfTheRuntimeAndTheDriversInsideItAreOne() {
        live.apply(new Events()
                .add("cuda_launch", "cudaLaunchKernel", 1, EveryKind.START, 9000)
                .with(LongColumn.DEPTH, 0)
                .add("cuda_launch", "cuLaunchKernel", 1, EveryKind.START + 1000, 7000)
                .with(LongColumn.DEPTH, 1)
                .batch());
        assertThat(PrometheusText.parse(text("text/plain")).values())
                .containsEntry("zernel_cuda_launch_latency_seconds_count{pid=\"1\"}", 1.0)
                .containsEntry("zernel_cuda_launch_latency_seconds_sum{pid=\"1\"}", 9e-6)
                .containsEntry("zernel_events_total{kind=\"cuda_launch\"}", 2.0);
    }

    @Test
    void launchesThatWereOnlyCountedHaveNoLatency() {
        live.apply(new Events()
                .add("cuda_launch", "cuLaunchKernel", 1, EveryKind.START, 7000)
                .add("cuda_launch", "cuLaunchKernel", 1, EveryKind.START, 100 * MS)
                .with(LongColumn.COUNT, 999)
                .batch());
        assertThat(PrometheusText.parse(text("text/plain")).values())
                .containsEntry("zernel_cuda_launch_latency_seconds_count{pid=\"1\"}", 1.0)
                .containsEntry("zernel_cuda_launches_total{pid=\"1\"}", 1000.0);
    }

    @Test
    void theOperationIsTheCollectiveAndNotItsReduction() {
        live.apply(new Events().add("nccl", "ncclReduceScatter", 1, EveryKind.START, MS).batch());
        assertThat(text("text/plain")).contains("op=\"reduce_scatter\"");
    }

    @Test
    void samplesAreInBaseUnitsAndForgottenWhenNobodyRenewsThem() {
        live.apply(EveryKind.events().batch());
        assertThat(PrometheusText.parse(text("text/plain")).values())
                .containsEntry("zernel_gpu_power_watts{gpu_id=\"1\"}", 250.0)
                .containsEntry("zernel_gpu_sm_clock_hertz{gpu_id=\"1\"}", 1.98e9)
                .containsEntry("zernel_gpu_memory_used_ratio{gpu_id=\"1\"}", 0.25)
                .containsEntry("zernel_gpu_process_utilization_ratio{gpu_id=\"1\",pid=\"1\"}", 0.4);
        live.apply(new Events().add("io", "read", 2, EveryKind.START + 400_000 * MS, 0).batch());
        nowNanos = EveryKind.START + 400_000 * MS;
        assertThat(text("text/plain")).doesNotContain("zernel_gpu_power_watts", "zernel_gpu_memory_used_ratio");
    }

    @Test
    void instancesOfAPartedGpuHaveTheirOwnSeries() {
        live.apply(EveryKind.events()
                .add("gpu_sample", "sm_active", 0, EveryKind.START, 0)
                .with(LongColumn.VALUE, 250_000)
                .with(LongColumn.DEVICE, 1)
                .with(TextColumn.OBJECT, "3")
                .batch());
        assertThat(PrometheusText.parse(text("text/plain")).values())
                .containsEntry("zernel_gpu_sm_active_ratio{gpu_id=\"1\"}", 0.77)
                .containsEntry("zernel_gpu_sm_active_ratio{gpu_id=\"1/3\"}", 0.25);
    }

    @Test
    void aLateRankIsSeenByItsProcess() {
        live.apply(EveryKind.events().batch());
        assertThat(PrometheusText.parse(text("text/plain")).values())
                .containsEntry("zernel_nccl_skew_seconds_sum{op=\"all_reduce\"}", 0.002)
                .containsEntry("zernel_nccl_late_seconds_sum{pid=\"1\"}", 0.0)
                .containsEntry("zernel_nccl_late_seconds_sum{pid=\"3\"}", 0.002);
    }

    @Test
    void aProcessThatIsStillInItsStepGetsOlder() {
        live.apply(EveryKind.events().batch());
        assertThat(PrometheusText.parse(text("text/plain")).values())
                .containsEntry("zernel_step_age_seconds{pid=\"1\"}", 0.9);
        live.apply(new Events().add("process", "exit", 1, EveryKind.START + 500 * MS, 0).batch());
        assertThat(text("text/plain")).doesNotContain("zernel_step_age_seconds");
    }

    @Test
    void aScrapeWhileABatchLandsSeesAllOfItOrNothing() throws InterruptedException {
        Events events = new Events();
        for (int i = 0; i < 1000; i++) {
            events.add("io", "read", 1, EveryKind.START, MS).with(LongColumn.BYTES, 1);
        }
        Thread writer = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < 200; i++) {
                live.apply(events.batch());
            }
        });
        List<Double> seen = new ArrayList<>();
        do {
            Map<String, Double> values = PrometheusText.parse(text("text/plain")).values();
            double bytes = values.getOrDefault("zernel_io_bytes_total{pid=\"1\"}", 0.0);
            assertThat(values.getOrDefault("zernel_io_seconds_count{pid=\"1\"}", 0.0)).isEqualTo(bytes);
            seen.add(bytes);
        } while (writer.isAlive());
        writer.join();
        assertThat(seen).isNotEmpty().allMatch(bytes -> bytes % 1000 == 0);
    }

    @Test
    void processesBeyondTheLimitShareOneSeries() {
        for (long pid = 1; pid <= 1000; pid++) {
            live.apply(new Events().add("io", "read", pid, EveryKind.START, MS).with(LongColumn.BYTES, 10).batch());
        }
        PrometheusText text = PrometheusText.parse(text("text/plain"));
        assertThat(text.values())
                .containsEntry("zernel_io_bytes_total{pid=\"1\"}", 10.0)
                .containsEntry("zernel_io_bytes_total{pid=\"2\"}", 10.0)
                .containsEntry("zernel_io_bytes_total{pid=\"other\"}", 9970.0)
                .containsEntry("zernel_io_seconds_count{pid=\"other\"}", 997.0)
                .doesNotContainKey("zernel_io_bytes_total{pid=\"4\"}");
    }

    @Test
    void aMetricHasABoundedNumberOfSeries() {
        Events calls = new Events();
        for (int i = 0; i < 5000; i++) {
            calls.add("call", "function_" + i, 1, EveryKind.START, MS);
        }
        live.apply(calls.batch());
        Map<String, Double> values = PrometheusText.parse(text("text/plain")).values();
        assertThat(values.keySet().stream().filter(series -> series.startsWith("zernel_call_seconds_count")))
                .hasSize(1001);
        assertThat(values).containsEntry("zernel_call_seconds_count{name=\"other\",pid=\"other\"}", 4000.0);
    }

    @Test
    void aBusyLateProcessTakesTheSeriesOfAQuietOne() {
        live.apply(new Events().add("io", "read", 1, EveryKind.START, MS).add("io", "read", 2, EveryKind.START, MS).batch());
        live.apply(new Events().add("io", "read", 4, EveryKind.START, MS).batch());
        for (int i = 0; i < 100; i++) {
            live.apply(new Events().add("io", "read", 3, EveryKind.START, MS).add("io", "read", 2, EveryKind.START, MS).batch());
        }
        PrometheusText text = PrometheusText.parse(text("text/plain"));
        double third = text.values().getOrDefault("zernel_io_seconds_count{pid=\"3\"}", 0.0);
        double other = text.values().getOrDefault("zernel_io_seconds_count{pid=\"other\"}", 0.0);
        assertThat(text.values()).containsEntry("zernel_io_seconds_count{pid=\"2\"}", 101.0);
        assertThat(third).isGreaterThan(90);
        assertThat(third + other).as("with the one event of the process that gave way").isEqualTo(101);
    }

    @Test
    void onlyReadsCountAsReads() {
        live.apply(new Events()
                .add("io", "read", 1, EveryKind.START, MS).with(LongColumn.BYTES, 10)
                .add("io", "io_uring_readv", 1, EveryKind.START, MS).with(LongColumn.BYTES, 20)
                .add("io", "write", 1, EveryKind.START, MS).with(LongColumn.BYTES, 40)
                .add("io", "rename", 1, EveryKind.START, MS)
                .add("io", "fsync", 1, EveryKind.START, MS)
                .batch());
        assertThat(PrometheusText.parse(text("text/plain")).values())
                .containsEntry("zernel_io_bytes_total{pid=\"1\"}", 30.0)
                .containsEntry("zernel_io_seconds_count{pid=\"1\"}", 2.0);
    }

    private String text(String accept) {
        return text(live, accept);
    }

    private String text(LiveMetrics metrics, String accept) {
        AtomicReference<String> text = new AtomicReference<>("");
        metrics.read(nowNanos, false, view -> text.set(Exposition.of(view, Exposition.Format.of(accept))));
        return text.get();
    }
}
