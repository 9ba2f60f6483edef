package io.dyber.zernel.serve.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.Ports;
import io.dyber.zernel.serve.alert.Alert;
import io.dyber.zernel.serve.alert.AlertRule;
import io.dyber.zernel.serve.alert.AlertRule.Action;
import io.dyber.zernel.serve.alert.AlertRule.Comparison;
import io.dyber.zernel.serve.alert.AlertRule.Severity;
import io.dyber.zernel.serve.analysis.Findings;
import io.dyber.zernel.serve.analysis.Inferences;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.live.SeriesTable;
import io.dyber.zernel.serve.metric.CommonLabels;
import io.dyber.zernel.serve.metric.Metrics;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.logs.v1.LogRecord;
import io.opentelemetry.proto.logs.v1.SeverityNumber;
import io.opentelemetry.proto.metrics.v1.NumberDataPoint;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Findings and alerts as logs, and what happens with a Collector that takes nothing.
@Timeout(60)
final class OtlpDeliveryTest {
    private static final long SINCE = 1_700_000_000_000_000_000L;
    private static final AlertRule FULL = new AlertRule("full", Metrics.GPU_MEMORY_RATIO, Map.of(), Comparison.ABOVE,
            0.95, Duration.ofSeconds(5), Severity.CRITICAL, Set.of(Action.LOG), "A device is almost full.");

    private final BlockingQueue<String> said = new LinkedBlockingQueue<>();
    private final AtomicReference<Findings> findings = new AtomicReference<>(findings());
    private final AtomicReference<@Nullable Otlp> pushing = new AtomicReference<>();
    private volatile LiveMetrics live = metrics();

    @AutoClose
    private final Collector collector = Collector.start(0);

    @Test
    void anAlertIsALogRecordWhenItFiresAndWhenItIsResolved() throws InterruptedException {
        Otlp otlp = start(collector.base(), Duration.ofHours(1));
        otlp.tell(alert(Alert.State.FIRING));
        otlp.tell(alert(Alert.State.RESOLVED));
        otlp.close();
        List<LogRecord> records = Collector.records(collector.nextLogs());
        assertThat(records).hasSize(2);
        LogRecord firing = records.getFirst();
        assertThat(firing.getEventName()).isEqualTo("zernel.alert");
        assertThat(firing.getSeverityNumber()).isEqualTo(SeverityNumber.SEVERITY_NUMBER_ERROR);
        assertThat(firing.getSeverityText()).isEqualTo("critical");
        assertThat(firing.getBody().getStringValue())
                .isEqualTo("A device is almost full (gpu_id 0): 0.9700 > 0.95 for 5 s");
        assertThat(firing.getTimeUnixNano()).isEqualTo(SINCE + 5_000_000_000L);
        assertThat(firing.getObservedTimeUnixNano()).isGreaterThan(firing.getTimeUnixNano());
        assertThat(Collector.attributes(firing.getAttributesList())).isEqualTo(Map.of(
                "alertname", "full",
                "alertstate", "firing",
                "metric", "zernel_gpu_memory_used_ratio",
                "gpu_id", "0"));
        LogRecord resolved = records.getLast();
        assertThat(resolved.getSeverityNumber()).isEqualTo(SeverityNumber.SEVERITY_NUMBER_INFO);
        assertThat(resolved.getBody().getStringValue())
                .isEqualTo("Resolved: A device is almost full (gpu_id 0): 0.9700 > 0.95 for 5 s");
        assertThat(Collector.attributes(resolved.getAttributesList())).containsEntry("alertstate", "resolved");
    }

    @Test
    void aFindingIsALogRecordOfOneSentence() throws InterruptedException {
        findings.set(findings(found("high", 15.0), found("medium", 5.0)));
        start(collector.base(), Duration.ofHours(1)).close();
        LogRecord record = Collector.records(collector.nextLogs()).getFirst();
        assertThat(record.getEventName()).isEqualTo("zernel.finding");
        assertThat(record.getSeverityNumber()).isEqualTo(SeverityNumber.SEVERITY_NUMBER_ERROR);
        assertThat(record.getSeverityText()).isEqualTo("high");
        assertThat(record.getBody().getStringValue())
                .isEqualTo("Training waits for data (pid 1): loses 15.0 ms per step");
        assertThat(record.getTimeUnixNano()).isEqualTo(SINCE);
        assertThat(Collector.attributes(record.getAttributesList())).isEqualTo(Map.of(
                "finding", "data_bound",
                "subject", "pid 1",
                "lost_ms_per_step", "15.0",
                "evidence", "15.0 ms of 50.0 ms",
                "advice", "more workers",
                "next_command", "zernel-analyze phases run.parquet"));
    }

    @Test
    void aFindingIsToldAgainOnlyWhenItChanges() throws InterruptedException {
        findings.set(findings(found("high", 15.0)));
        Otlp otlp = start(collector.base(), Duration.ofMillis(20));
        assertThat(bodies(1)).containsExactly("Training waits for data (pid 1): loses 15.0 ms per step");
        findings.set(findings(found("high", 16.0)));
        collector.awaitPushes(3);
        findings.set(findings(found("high", 17.0)));
        assertThat(bodies(1)).containsExactly("Training waits for data (pid 1): loses 17.0 ms per step");
        findings.set(findings(found("medium", 17.0)));
        assertThat(bodies(1)).containsExactly("Training waits for data (pid 1): loses 17.0 ms per step");
        findings.set(findings());
        collector.awaitPushes(3);
        findings.set(findings(found("medium", 17.0)));
        assertThat(bodies(1)).containsExactly("Training waits for data (pid 1): loses 17.0 ms per step");
        otlp.close();
        assertThat(collector.records()).isEmpty();
    }

    @Test
    void requestsHaveTheUsersHeaders() throws InterruptedException {
        Otlp.start(
                        new OtlpTarget(collector.base(), Duration.ofHours(1), Map.of("api-key", "s3cr3t"), said::add),
                        identity(), reader -> live.read(SINCE, false, reader), findings::get)
                .close();
        assertThat(collector.nextHeaders())
                .containsEntry("Api-key", List.of("s3cr3t"))
                .containsEntry("Content-type", List.of("application/x-protobuf"))
                .containsEntry("Content-encoding", List.of("gzip"));
    }

    @Test
    void whatIsRefusedIsCountedSaidOnceAndLogsArriveLater() throws InterruptedException {
        collector.answer(503);
        Otlp otlp = start(collector.base(), Duration.ofMillis(20));
        otlp.tell(alert(Alert.State.FIRING));
        assertThat(List.of(said.take(), said.take())).containsExactly(
                "pushing metrics to '" + collector.base() + "/v1/metrics': status 503; goes on trying",
                "pushing logs to '" + collector.base() + "/v1/logs': status 503; goes on trying");
        awaitFailures("metrics", 3);
        awaitFailures("logs", 3);
        collector.answer(200);
        assertThat(Collector.records(collector.nextLogs())).hasSize(1);
        NumberDataPoint failures = Collector.family(collector.nextMetrics(), "zernel_otlp_failures_total")
                .getSum()
                .getDataPoints(0);
        assertThat(Collector.attributes(failures.getAttributesList()))
                .isEqualTo(Map.of("signal", "metrics", "result", "failed"));
        assertThat(failures.getAsDouble()).isGreaterThanOrEqualTo(3);
        otlp.close();
        assertThat(said).containsExactlyInAnyOrder(
                "pushing metrics to '" + collector.base() + "/v1/metrics': works again",
                "pushing logs to '" + collector.base() + "/v1/logs': works again");
        assertThat(collector.records()).isEmpty();
    }

    @Test
    void aRecordThatIsRefusedIsDroppedAndHoldsUpNone() throws InterruptedException {
        collector.answer(400);
        Otlp otlp = start(collector.base(), Duration.ofMillis(20));
        otlp.tell(alert(Alert.State.FIRING));
        awaitFailures("logs", 1);
        collector.answer(200);
        otlp.tell(alert(Alert.State.RESOLVED));
        assertThat(bodies(1)).containsExactly("Resolved: A device is almost full (gpu_id 0): 0.9700 > 0.95 for 5 s");
        otlp.close();
        assertThat(collector.records()).isEmpty();
        assertThat(failures("logs", "failed")).isEqualTo(1);
        assertThat(failures("logs", "dropped")).isEqualTo(1);
    }

    @Test
    void whatTheServerCountsBeganWithItAlsoWhenAReplayIsSentBack() throws InterruptedException {
        collector.answer(503);
        Otlp otlp = start(collector.base(), Duration.ofMillis(20));
        awaitFailures("metrics", 1);
        live = metrics();
        collector.answer(200);
        collector.nextMetrics();
        ExportMetricsServiceRequest pushed = collector.nextMetrics();
        otlp.close();
        long since = startNanos(pushed, "zernel_detail_seconds_total");
        assertThat(startNanos(pushed, "zernel_otlp_failures_total")).isLessThan(since);
    }

    private static long startNanos(ExportMetricsServiceRequest pushed, String counter) {
        return Collector.family(pushed, counter).getSum().getDataPoints(0).getStartTimeUnixNano();
    }

    @Test
    void aCollectorThatIsNotThereIsSaidOnceAndHoldsNobodyUp() throws Exception {
        int port = Ports.free();
        Otlp otlp = start(URI.create("http://127.0.0.1:" + port), Duration.ofMillis(20));
        awaitFailures("metrics", 5);
        assertThat(said).containsExactly(
                "pushing metrics to 'http://127.0.0.1:" + port + "/v1/metrics': nobody listens there; goes on trying");
        long before = System.nanoTime();
        otlp.close();
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(4));
    }

    @Test
    void aHostThatIsNotThereIsSaid() throws InterruptedException {
        Otlp otlp = start(URI.create("http://no-such-host.invalid:4318"), Duration.ofMillis(20));
        assertThat(said.take()).isEqualTo("pushing metrics to 'http://no-such-host.invalid:4318/v1/metrics': "
                + "no such host; goes on trying");
        otlp.close();
    }

    @Test
    void aCollectorThatNeverAnswersHoldsNobodyUp() throws InterruptedException {
        Otlp otlp = start(collector.silentBase(), Duration.ofMillis(20), Duration.ofMillis(500));
        // At most 1000 wait, and as many are being pushed.
        for (int i = 0; i < 2500; i++) {
            otlp.tell(alert(Alert.State.FIRING));
        }
        assertThat(otlp.works()).isTrue();
        awaitFailures("metrics", 2);
        assertThat(failures("logs", "dropped")).isGreaterThanOrEqualTo(500);
        assertThat(said.take()).isEqualTo(
                "pushing metrics to '" + collector.silentBase() + "/v1/metrics': no answer in time; goes on trying");
        long before = System.nanoTime();
        otlp.close();
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(4));
    }

    @Test
    void theLastValuesArePushedAtTheEnd() throws InterruptedException {
        Otlp otlp = start(collector.base(), Duration.ofHours(1));
        live.moveTo(SINCE);
        otlp.close();
        assertThat(Collector.family(collector.nextMetrics(), "zernel_source_time_seconds")
                        .getGauge()
                        .getDataPoints(0)
                        .getAsDouble())
                .isEqualTo(1.7e9);
        assertThat(otlp.works()).isFalse();
        otlp.close();
    }

    private LiveMetrics metrics() {
        return new LiveMetrics(3, new Inferences(true), new LiveMetrics.Watcher() {
            @Override
            public void second(LiveMetrics.View view) {}

            @Override
            public void export(SeriesTable series) {
                Otlp otlp = pushing.get();
                if (otlp != null) {
                    otlp.export(series);
                }
            }
        });
    }

    private Otlp start(URI base, Duration interval) {
        return start(base, interval, Duration.ofSeconds(30));
    }

    private Otlp start(URI base, Duration interval, Duration longestAnswer) {
        Otlp otlp = Otlp.start(new OtlpTarget(base, interval, Map.of(), said::add), identity(),
                reader -> live.read(SINCE, false, reader), findings::get, longestAnswer);
        pushing.set(otlp);
        return otlp;
    }

    private static OtlpIdentity identity() {
        return new OtlpIdentity("node7", "node7:9091", CommonLabels.NONE);
    }

    private List<String> bodies(int count) throws InterruptedException {
        List<String> bodies = new ArrayList<>();
        while (bodies.size() < count) {
            Collector.records(collector.nextLogs()).forEach(record -> bodies.add(record.getBody().getStringValue()));
        }
        return bodies;
    }

    private void awaitFailures(String signal, double count) throws InterruptedException {
        while (failures(signal, "failed") < count) {
            Thread.sleep(10);
        }
    }

    private double failures(String signal, String result) {
        double[] failures = {0};
        live.read(SINCE, false, view ->
                failures[0] = view.series().number(Metrics.OTLP_FAILURES, List.of(signal, result)).value());
        return failures[0];
    }

    private static Findings findings(Findings.Found... found) {
        return new Findings(SINCE / 1_000_000, "run.parquet", "", List.of(found), List.of());
    }

    private static Findings.Found found(String severity, double lost) {
        return new Findings.Found("data_bound", "Training waits for data.", "pid 1", severity, lost, 1.4,
                "15.0 ms of 50.0 ms", "more workers", "zernel-analyze phases run.parquet", List.of());
    }

    private static Alert alert(Alert.State state) {
        return new Alert(FULL, Map.of("gpu_id", "0"), state, 0.97, SINCE, SINCE + 5_000_000_000L);
    }
}
