package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.http.AccessToken;
import io.dyber.zernel.serve.source.Replay;
import io.dyber.zernel.serve.source.Speed;
import io.dyber.zernel.serve.source.WrittenRecording;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A whole replay, seen from outside.
@Timeout(60)
final class MetricsServerTest {
    private static final List<String> ZERNELDS_FIELDS = List.of("gpu_utilization", "cuda_latency_p50_us",
            "cuda_latency_p99_us", "nccl_allreduce_p50_ms", "nccl_allreduce_p99_ms", "dataloader_wait_p50_ms",
            "last_update_ms");

    @TempDir
    private static Path folder;

    private final HttpClient http = HttpClient.newHttpClient();
    private final JsonMapper json = new JsonMapper();
    private MetricsServer server;

    @BeforeEach
    void serve() throws IOException, InterruptedException {
        Path file = WrittenRecording.training(folder.resolve("run.parquet"), 1_700_000_000_000_000_000L, 50);
        server = start(file, 0, 0);
        assertThat(server.awaitEnd()).isTrue();
    }

    @AfterEach
    void stop() {
        server.close();
        http.shutdownNow();
    }

    @Test
    void metricsSayWhatTheRecordingHolds() throws Exception {
        HttpResponse<String> answer = get("/metrics");
        assertThat(answer.headers().firstValue("Content-Type"))
                .hasValue("text/plain; version=0.0.4; charset=utf-8");
        assertThat(PrometheusText.parse(answer.body()).values())
                .containsEntry("zernel_steps_total{pid=\"4242\"}", 50.0)
                .containsEntry("zernel_step_seconds_sum{pid=\"4242\"}", 5.0)
                .containsEntry("zernel_dataloader_wait_seconds_count{pid=\"4242\"}", 50.0)
                .containsEntry("zernel_dataloader_wait_seconds_sum{pid=\"4242\"}", 1.5)
                .containsEntry("zernel_phase_ratio{phase=\"data_loading\",pid=\"4242\"}", 0.3)
                .containsEntry("zernel_phase_ratio{phase=\"gpu_compute\",pid=\"4242\"}", 0.5)
                .containsEntry("zernel_phase_ratio{phase=\"unknown\",pid=\"4242\"}", 0.1)
                .containsEntry("zernel_dist_sync_wait_seconds_sum{pid=\"4243\"}", 0.25)
                .containsEntry("zernel_io_bytes_total{pid=\"4243\"}", 50_000.0)
                .containsEntry("zernel_events_total{kind=\"region\"}", 100.0)
                .containsEntry("zernel_source_ended", 1.0);
    }

    @Test
    void alertsSayTheirRules() throws Exception {
        JsonNode alerts = json.readTree(get("/api/alerts").body());
        assertThat(alerts.path("rules").path(0).path("expression").asString())
                .isEqualTo("zernel_gpu_memory_used_ratio > 0.95");
        assertThat(alerts.path("alerts").isEmpty()).isTrue();
    }

    @Test
    void anAlertFiresInASilenceAndDoesNotWaitForTheNextEvent() throws Exception {
        server.close();
        Path file = WrittenRecording.write(folder.resolve("silence.parquet"), """
                SELECT 'gpu_sample' AS kind, e.name, 1700000000000000000 + e.later AS ts_ns, e.value, 0 AS device, 0 AS tid
                FROM (VALUES ('memory_total', 0, 100), ('memory_used', 0, 99), ('memory_used', 86400000000000, 50))
                    AS e(name, later, value)
                """);
        server = MetricsServer.start(
                new Replay(file, Replay.Options.at(Speed.parse("10x"))),
                options(0, 0, false, Optional.empty()),
                new Alerting(AlertRules.defaults(), _ -> {}));
        JsonNode alert = json.missingNode();
        while (!alert.path("state").asString("").equals("firing")) {
            Thread.sleep(50);
            alert = json.readTree(get("/api/alerts").body()).at("/alerts/0");
        }
        assertThat(alert.path("labels").path("gpu_id").asString()).isEqualTo("0");
        assertThat(json.readTree(get("/api/snapshot").body()).at("/zernel/alerts/0/text").asString())
                .startsWith("A device has less than 5 % of its memory left; the next allocation may fail (gpu_id 0): 0.9900 > ");
    }

    @Test
    void percentilesAreThereForEachWindow() throws Exception {
        JsonNode series = json.readTree(get("/api/percentiles").body()).path("series");
        JsonNode waits = series.valueStream()
                .filter(one -> one.path("metric").asString().equals("zernel_dataloader_wait_seconds"))
                .findFirst()
                .orElseThrow();
        assertThat(waits.path("labels").path("pid").asString()).isEqualTo("4242");
        assertThat(waits.path("start").path("count").asInt()).isEqualTo(50);
        assertThat(waits.path("1m").path("p99_9_ms").asDouble()).isCloseTo(30, within(0.3));
    }

    @Test
    void aScraperThatAsksForOpenMetricsGetsIt() throws Exception {
        HttpResponse<String> answer = http.send(
                request("/metrics").header("Accept", "application/openmetrics-text; version=1.0.0").build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(answer.headers().firstValue("Content-Type").orElse("")).startsWith("application/openmetrics-text");
        assertThat(answer.body()).endsWith("# EOF\n");
    }

    @Test
    void aWebSocketClientGetsZerneldsFieldsEachInterval() throws Exception {
        try (WebSocketClient client = new WebSocketClient(server.webSocketPort(), null)) {
            client.next();
            long before = System.nanoTime();
            for (int i = 0; i < 20; i++) {
                JsonNode snapshot = json.readTree(client.next());
                assertThat(snapshot.propertyNames()).containsAll(ZERNELDS_FIELDS);
                assertThat(snapshot.path("dataloader_wait_p50_ms").asDouble()).isCloseTo(30, within(0.3));
                assertThat(snapshot.path("cuda_latency_p99_us").isNumber()).isTrue();
                assertThat(snapshot.path("gpu_utilization").isArray()).isTrue();
                assertThat(snapshot.path("last_update_ms").asLong()).isCloseTo(
                        System.currentTimeMillis(), within(60_000L));
                assertThat(snapshot.at("/zernel/version").asInt()).isEqualTo(1);
                assertThat(snapshot.at("/zernel/interval_ms").asInt()).isEqualTo(100);
                assertThat(snapshot.at("/zernel/measured/dataloader_wait").asString()).isEqualTo("pid 4242");
                assertThat(snapshot.at("/zernel/measured/cuda_latency").isMissingNode()).isTrue();
                assertThat(snapshot.at("/zernel/processes/0/comm").asString()).isEqualTo("python3");
                assertThat(snapshot.at("/zernel/processes/0/phases/data_loading").asDouble())
                        .isCloseTo(0.3, within(1e-9));
            }
            assertThat(Duration.ofNanos(System.nanoTime() - before))
                    .isBetween(Duration.ofSeconds(1), Duration.ofSeconds(30));
        }
    }

    @Test
    void theSnapshotIsAPageToo() throws Exception {
        HttpResponse<String> answer = get("/api/snapshot");
        assertThat(json.readTree(answer.body()).propertyNames()).containsAll(ZERNELDS_FIELDS);
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/json");
        assertThat(get("/healthz").body()).isEqualTo("ok");
    }

    @Test
    void theWebPageNeedsNothingFromElsewhere() throws Exception {
        HttpResponse<String> answer = get("/");
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("text/html; charset=utf-8");
        assertThat(answer.body()).contains("data-ws-port=\"" + server.webSocketPort() + "\"");
        for (String file : List.of("/", "/page.css", "/page.js", "/charts.css", "/charts.js")) {
            assertThat(get(file).body())
                    .doesNotContain("__ZERNEL")
                    .doesNotContain("https://")
                    .doesNotContainPattern("(src|href|from|import)[=( ]+[\"'](http|//)");
        }
    }

    @Test
    void onlyGetOfKnownPagesIsAnswered() throws Exception {
        assertThat(get("/nothing").statusCode()).isEqualTo(404);
        assertThat(http.send(
                                request("/metrics").POST(HttpRequest.BodyPublishers.ofString("x")).build(),
                                HttpResponse.BodyHandlers.ofString())
                        .statusCode())
                .isEqualTo(405);
    }

    @Test
    void pagesOfOtherSitesAreKeptOut() throws Exception {
        assertThat(http.send(request("/metrics").header("Origin", "http://evil.example").build(),
                        HttpResponse.BodyHandlers.ofString()).statusCode())
                .isEqualTo(403);
        assertThat(rawGet("Host: evil.example\r\n")).startsWith("HTTP/1.1 403 ");
        assertThat(rawGet("Host: localhost:1\r\n")).startsWith("HTTP/1.1 200 ");
        assertThat(rawGet("Host: localhost:1\r\nSec-Fetch-Site: cross-site\r\n")).startsWith("HTTP/1.1 403 ");
        int port = server.webSocketPort();
        assertThatThrownBy(() -> new WebSocketClient(port, "http://127.0.0.1:1").close())
                .hasMessageContaining("WebSocketHandshakeException");
        assertThatThrownBy(() -> new WebSocketClient(port, "http://evil.example").close())
                .hasMessageContaining("WebSocketHandshakeException");
        try (WebSocketClient own = new WebSocketClient(port, "http://127.0.0.1:" + server.metricsPort())) {
            assertThat(own.next()).startsWith("{");
        }
    }

    @Test
    void malformedFramesHarmNobodyElse() throws Exception {
        try (WebSocketClient good = new WebSocketClient(server.webSocketPort(), null);
                Socket bad = handshake()) {
            bad.getOutputStream().write(new byte[] {(byte) 0xff, (byte) 0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
            bad.getOutputStream().flush();
            for (int i = 0; i < 5; i++) {
                assertThat(good.next()).contains("last_update_ms");
            }
        }
    }

    @Test
    void aReplayIsMovedByItsPage() throws Exception {
        JsonNode ended = json.readTree(get("/api/replay").body());
        assertThat(ended.path("position_s").asDouble()).isEqualTo(4.99);
        assertThat(ended.path("length_s").asDouble()).isEqualTo(4.99);
        assertThat(post("{\"paused\":true,\"speed\":\"1x\",\"position_s\":2.45}").statusCode()).isEqualTo(200);
        for (int i = 0; i < 3000 && json.readTree(get("/api/replay").body()).path("position_s").asDouble() != 2.45; i++) {
            Thread.sleep(10);
        }
        // The step that lies around the moment has not ended yet.
        assertThat(PrometheusText.parse(get("/metrics").body()).values())
                .containsEntry("zernel_steps_total{pid=\"4242\"}", 24.0)
                .containsEntry("zernel_source_ended", 0.0);
        assertThat(json.readTree(get("/api/snapshot").body()).at("/zernel/replay/paused").asBoolean()).isTrue();
    }

    @Test
    void theChartsGoBackToTheStartOfTheRecording() throws Exception {
        JsonNode points = json.readTree(get("/api/charts").body()).path("points");
        assertThat(points.valueStream().map(point -> point.path("t").asLong()))
                .containsExactly(1_700_000_001_000L, 1_700_000_002_000L, 1_700_000_003_000L, 1_700_000_004_000L);
        assertThat(points.path(3).at("/values/zernel_step_seconds p50 4242").asDouble()).isCloseTo(100, within(1.0));
        assertThat(points.path(3).at("/values/data_loading 4242").asDouble()).isCloseTo(0.3, within(0.02));
    }

    @Test
    void nonsenseDoesNotMoveAReplay() throws Exception {
        assertThat(post("{").body()).isEqualTo("{\"error\":\"the body is not JSON\"}");
        assertThat(post("{\"speed\":\"fast\"}").statusCode()).isEqualTo(400);
        assertThat(post("{\"pause\":true}").body()).contains("no such field 'pause'");
        assertThat(post(" ".repeat(70_000)).statusCode()).isEqualTo(413);
        assertThat(json.readTree(get("/api/replay").body()).path("speed").asString()).isEqualTo("max");
    }

    @Test
    void theFindingsOfTheRecordingAreInTheSnapshot() throws Exception {
        try (MetricsServer analyzing = MetricsServer.start(
                        new Replay(folder.resolve("run.parquet"), Replay.Options.at(Speed.MAX)),
                        options(0, 0, true, Optional.empty()),
                        new Alerting(AlertRules.defaults(), _ -> {}));
                WebSocketClient client = new WebSocketClient(analyzing.webSocketPort(), null)) {
            JsonNode findings = json.readTree(client.next()).at("/zernel/findings");
            for (int i = 0; i < 300 && findings.path("as_of_ms").asLong() == 0; i++) {
                findings = json.readTree(client.next()).at("/zernel/findings");
            }
            assertThat(findings.path("recording").asString()).endsWith("run.parquet");
            assertThat(findings.at("/findings/0/lost_ms_per_step").asDouble()).isCloseTo(30, within(1.0));
            assertThat(findings.at("/findings/0/advice").asString()).isNotEmpty();
            String metrics = http.send(
                            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + analyzing.metricsPort() + "/metrics")).build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body();
            assertThat(metrics).containsPattern("zernel_finding_lost_seconds\\{finding=\"data_bound\",subject=\"[^\"]+\"} 0\\.0[23]");
        }
    }

    @Test
    void whoDoesNotShowTheTokenSeesNothingOfTheRecording() throws Exception {
        AccessToken token = new AccessToken("0123456789abcdef");
        try (MetricsServer guarded = MetricsServer.start(
                new Replay(folder.resolve("run.parquet"), Replay.Options.at(Speed.MAX)),
                options(0, 0, false, Optional.of(token)),
                new Alerting(AlertRules.defaults(), _ -> {}))) {
            String address = "http://127.0.0.1:" + guarded.metricsPort();
            assertThat(status(address + "/metrics", null)).isEqualTo(401);
            assertThat(status(address + "/metrics", "Bearer 0123456789abcdeF")).isEqualTo(401);
            assertThat(status(address + "/metrics", "Bearer 0123456789abcdef")).isEqualTo(200);
            assertThat(status(address + "/api/snapshot?token=0123456789abcdef", null)).isEqualTo(401);
            assertThat(status(address + "/nothing", null)).isEqualTo(401);
            assertThat(status(address + "/", null)).isEqualTo(200);
            assertThat(status(address + "/healthz", null)).isEqualTo(200);
            int port = guarded.webSocketPort();
            assertThatThrownBy(() -> new WebSocketClient(port, null).close())
                    .hasMessageContaining("WebSocketHandshakeException");
            try (WebSocketClient known = new WebSocketClient(port, address, "0123456789abcdef")) {
                assertThat(known.next()).startsWith("{");
            }
            try (RawClient client = new RawClient(port)) {
                assertThat(client.handshake("Host: localhost\r\n")).startsWith("HTTP/1.1 401 ");
            }
            try (RawClient client = new RawClient(port)) {
                assertThat(client.handshake("Host: localhost\r\nSec-WebSocket-Protocol: zernel, zernel.token.wrong\r\n"))
                        .startsWith("HTTP/1.1 401 ");
            }
            try (RawClient client = new RawClient(port)) {
                assertThat(client.handshake("Host: gpu7.cluster.local\r\nAuthorization: Bearer 0123456789abcdef\r\n"))
                        .startsWith("HTTP/1.1 101 ");
            }
        }
    }

    @Test
    void aPortInUseIsSaid() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Path file = folder.resolve("run.parquet");
            assertThatThrownBy(() -> start(file, taken.getLocalPort(), 0).close()).isInstanceOf(MetricsServer.PortException.class)
                    .hasMessageContaining("(pid " + ProcessHandle.current().pid() + ")");
            assertThatThrownBy(() -> start(file, 0, taken.getLocalPort()).close()).isInstanceOf(MetricsServer.PortException.class);
        }
    }

    private static MetricsServer start(Path file, int httpPort, int webSocketPort) throws IOException {
        return MetricsServer.start(
                new Replay(file, Replay.Options.at(Speed.MAX)),
                options(httpPort, webSocketPort, false, Optional.empty()),
                new Alerting(AlertRules.defaults(), _ -> {}));
    }

    private static MetricsServer.Options options(int httpPort, int webSocketPort, boolean findings, Optional<AccessToken> token) {
        return new MetricsServer.Options(
                InetAddress.getLoopbackAddress(), httpPort, webSocketPort, Duration.ofMillis(100), 100, findings, token, Set.of());
    }

    private int status(String address, @Nullable String authorization) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(address));
        if (authorization != null) {
            request.header("Authorization", authorization);
        }
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString()).statusCode();
    }

    private HttpResponse<String> post(String body) throws IOException, InterruptedException {
        return http.send(
                request("/api/replay").POST(HttpRequest.BodyPublishers.ofString(body)).build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return http.send(request(path).build(), HttpResponse.BodyHandlers.ofString());
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.metricsPort() + path));
    }

    private String rawGet(String headers) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.metricsPort())) {
            socket.getOutputStream().write(
                    ("GET /healthz HTTP/1.1\r\n" + headers + "Connection: close\r\n\r\n").getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    /// A connection whose WebSocket handshake is done.
    private Socket handshake() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.webSocketPort());
        socket.getOutputStream().write("""
                GET / HTTP/1.1\r
                Host: localhost\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                Sec-WebSocket-Version: 13\r
                \r
                """.getBytes(StandardCharsets.US_ASCII));
        byte[] start = socket.getInputStream().readNBytes(12);
        assertThat(new String(start, StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 101");
        return socket;
    }
}
