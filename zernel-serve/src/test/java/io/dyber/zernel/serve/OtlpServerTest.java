package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.live.SeriesPolicy;
import io.dyber.zernel.serve.otlp.Collector;
import io.dyber.zernel.serve.otlp.OtlpTarget;
import io.dyber.zernel.serve.source.Replay;
import io.dyber.zernel.serve.source.Speed;
import io.dyber.zernel.serve.source.WrittenRecording;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.logs.v1.LogRecord;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A whole replay, seen by a Collector.
@Timeout(60)
final class OtlpServerTest {
    private static final long START = 1_700_000_000_000_000_000L;

    @TempDir
    private Path folder;

    @AutoClose
    private final Collector collector = Collector.start(0);

    @Test
    void theLastValuesAreThoseOfTheEndAndAFindingIsALogRecord() throws Exception {
        Path file = WrittenRecording.training(folder.resolve("run.parquet"), START, 50);
        try (MetricsServer server = start(file, true, collector.base(), Duration.ofMillis(100))) {
            assertThat(server.awaitEnd()).isTrue();
            LogRecord finding = Collector.records(collector.nextLogs()).getFirst();
            assertThat(Collector.attributes(finding.getAttributesList())).containsEntry("finding", "data_bound");
            collector.awaitPushes(5);
        }
        assertThat(collector.records())
                .as("each finding once")
                .noneMatch(record -> "data_bound".equals(Collector.attributes(record.getAttributesList()).get("finding")));
        ExportMetricsServiceRequest last = collector.lastMetrics();
        assertThat(Collector.family(last, "zernel_steps_total").getSum().getDataPoints(0).getAsDouble()).isEqualTo(50);
        assertThat(Collector.family(last, "zernel_source_ended").getGauge().getDataPoints(0).getAsDouble()).isEqualTo(1);
    }

    @Test
    void anAlertIsPushedWhenItFiresAndWhenItIsResolved() throws Exception {
        Path file = WrittenRecording.write(folder.resolve("full.parquet"), """
                SELECT 'gpu_sample' AS kind, e.name, %d + 1000000000::BIGINT * e.later AS ts_ns, e.value, 0 AS device, 0 AS tid
                FROM (VALUES ('memory_total', 0, 100), ('memory_used', 0, 99), ('memory_used', 20, 50), ('fan', 40, 1))
                    AS e(name, later, value)
                """.formatted(START));
        try (MetricsServer server = start(file, false, collector.base(), Duration.ofHours(1))) {
            assertThat(server.awaitEnd()).isTrue();
        }
        assertThat(Collector.records(collector.nextLogs()))
                .extracting(record -> Collector.attributes(record.getAttributesList()).get("alertstate"))
                .containsExactly("firing", "resolved");
        assertThat(collector.records()).isEmpty();
    }

    @Test
    void aServerWhoseCollectorNeverAnswersServesAndEnds() throws Exception {
        Path file = WrittenRecording.training(folder.resolve("run.parquet"), START, 5);
        MetricsServer server = start(file, false, collector.silentBase(), Duration.ofMillis(20));
        assertThat(server.awaitEnd()).isTrue();
        assertThat(get(server, "/metrics"))
                .contains("zernel_steps_total{pid=\"4242\"} 5.0\n")
                .contains("zernel_otlp_failures_total{signal=\"metrics\",result=\"failed\"} ");
        assertThat(get(server, "/healthz")).isEqualTo("ok");
        long before = System.nanoTime();
        server.close();
        assertThat(Duration.ofNanos(System.nanoTime() - before)).isLessThan(Duration.ofSeconds(8));
    }

    private static MetricsServer start(Path file, boolean findings, URI base, Duration interval) throws IOException {
        MetricsServer.Options options = new MetricsServer.Options(
                InetAddress.getLoopbackAddress(), 0, 0, Duration.ofMillis(100), SeriesPolicy.usual(), findings,
                Optional.empty(), Set.of(), Optional.of(new OtlpTarget(base, interval, Map.of(), _ -> {})));
        return MetricsServer.start(
                new Replay(file, Replay.Options.at(Speed.MAX)), options, new Alerting(AlertRules.defaults(), _ -> {}));
    }

    private static String get(MetricsServer server, String path) throws IOException, InterruptedException {
        try (HttpClient http = HttpClient.newHttpClient()) {
            URI url = URI.create("http://127.0.0.1:" + server.metricsPort() + path);
            return http.send(HttpRequest.newBuilder(url).build(), HttpResponse.BodyHandlers.ofString()).body();
        }
    }
}
