package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.alert.PrometheusRules;
import io.dyber.zernel.serve.live.SeriesPolicy;
import io.dyber.zernel.serve.metric.GrafanaDashboard;
import io.dyber.zernel.serve.otlp.OtlpTarget;
import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.EventSource;
import io.dyber.zernel.serve.source.Facts;
import io.dyber.zernel.serve.source.SourceState;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What a real Prometheus (Debian's package `prometheus`) makes of it.
@Timeout(120)
final class PrometheusIT {
    private static final String RULES = """
            rules:
              - name: a quarter is used
                metric: zernel_gpu_memory_used_ratio
                labels: {gpu_id: "1"}
                comparison: ">="
                threshold: 0.25
                severity: info
              - name: slow
                metric: zernel_io_seconds
                labels: {quantile: "0.99"}
                comparison: ">"
                threshold: 10
                for: 1m
                summary: 'It is said to be "slow".'
            """;

    @TempDir
    private Path folder;

    private final HttpClient http = HttpClient.newHttpClient();

    @Test
    void promtoolFindsNothingToSay() throws Exception {
        Path promtool = program("promtool");
        try (MetricsServer server = serve()) {
            Path metrics = Files.writeString(folder.resolve("metrics.txt"), get(server.metricsPort(), "/metrics"));
            assertThat(says(metrics, promtool, "check", "metrics")).isEmpty();
        }
        Path rules = Files.writeString(folder.resolve("prometheus-rules.yml"), PrometheusRules.yaml(rules(), false));
        assertThat(says(rules, promtool, "check", "rules", "--lint-fatal", rules.toString())).contains("2 rules found");
    }

    @Test
    void everyPanelHasDataAndTheRulesAreEvaluated() throws Exception {
        Path prometheus = program("prometheus");
        try (MetricsServer server = serve()) {
            int port = Ports.free();
            Process process = start(prometheus, port, server.metricsPort());
            try {
                List<String> empty = expressions("/panels");
                assertThat(empty).hasSizeGreaterThan(60);
                List<String> findings = empty.stream().filter(expression -> expression.contains("zernel_finding")).toList();
                List<String> shares = empty.stream().filter(expression -> expression.startsWith("sum by (phase)")).toList();
                empty.removeAll(findings); // nothing is found in so little
                while (!empty.isEmpty()) {
                    assertThat(process.isAlive()).as(() -> log()).isTrue();
                    Thread.sleep(200);
                    empty.removeIf(expression -> hasData(port, expression));
                }
                while (!hasData(port, "ALERTS{alertname=\"a quarter is used\",alertstate=\"firing\"}")) {
                    Thread.sleep(200);
                }
                assertThat(hasData(port, "ALERTS{alertname=\"slow\"}")).isFalse();
                assertThat(shares).hasSize(3).noneMatch(share -> hasData(port, "sum(" + share + ") > 1.000001"));
                assertThat(findings).isNotEmpty().noneMatch(expression -> hasData(port, expression));
                assertThat(expressions("/annotations").stream().filter(expression -> hasData(port, expression)))
                        .singleElement().asString().startsWith("zernel_alerts{");
                assertThat(hasData(port, "zernel_alerts{alertname=\"a quarter is used\",alertstate=\"firing\"} == 1")).isTrue();
                assertThat(value(port, "zernel_io_bytes_total{pid=\"2\"}")).isEqualTo("1000");
            } finally {
                process.destroy();
                process.waitFor();
            }
        }
    }

    @Test
    void histogramsOfRanksAddUp() throws Exception {
        Path promtool = program("promtool");
        Path prometheus = program("prometheus");
        try (MetricsServer server = serve(SeriesPolicy.usual().withHistograms())) {
            Path metrics = Files.writeString(folder.resolve("histograms.txt"), get(server.metricsPort(), "/metrics"));
            assertThat(says(metrics, promtool, "check", "metrics")).isEmpty();
            int port = Ports.free();
            Process process = start(prometheus, port, server.metricsPort());
            try {
                // One of 3 ms and one of 5 ms are in the bucket from 2 ms to 5 ms.
                String median = "histogram_quantile(0.5, sum by (le) (zernel_nccl_collective_duration_seconds_bucket))";
                while (!hasData(port, median)) {
                    assertThat(process.isAlive()).as(() -> log()).isTrue();
                    Thread.sleep(200);
                }
                assertThat(Double.parseDouble(value(port, median))).isCloseTo(0.0035, within(1e-9));
            } finally {
                process.destroy();
                process.waitFor();
            }
        }
    }

    /// What the panels ask, and apart from them what is asked to mark findings and alerts, with everything chosen.
    private static List<String> expressions(String part) {
        List<String> expressions = new ArrayList<>();
        JsonNode dashboard = new JsonMapper().readTree(GrafanaDashboard.json());
        dashboard.at(part).findValues("expr").forEach(expression -> expressions.add(expression.asString()
                .replace("$__rate_interval", "1m")
                .replaceAll("\\$(job|instance|rank|gpu)", ".*")));
        return expressions;
    }

    private Process start(Path prometheus, int port, int metricsPort) throws Exception {
        Files.writeString(folder.resolve("rules.yml"), PrometheusRules.yaml(rules(), false));
        Path config = Files.writeString(folder.resolve("prometheus.yml"), """
                global: {scrape_interval: 1s, evaluation_interval: 1s}
                rule_files: [rules.yml]
                scrape_configs:
                  - job_name: zernel
                    static_configs: [{targets: ["127.0.0.1:%d"]}]
                """.formatted(metricsPort));
        return new ProcessBuilder(
                        prometheus.toString(),
                        "--config.file=" + config,
                        "--storage.tsdb.path=" + folder.resolve("data"),
                        "--web.listen-address=127.0.0.1:" + port)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("prometheus.log").toFile())
                .start();
    }

    private boolean hasData(int port, String expression) {
        return !result(port, expression).isEmpty();
    }

    private String value(int port, String expression) {
        return result(port, expression).path(0).path("value").path(1).asString();
    }

    private JsonNode result(int port, String expression) {
        try {
            String answer =
                    get(port, "/api/v1/query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8));
            JsonNode json = new JsonMapper().readTree(answer);
            assertThat(json.path("status").asString()).as(answer).isEqualTo("success");
            return json.path("data").path("result");
        } catch (IOException _) {
            return new JsonMapper().createArrayNode(); // it has not opened its port yet
        }
    }

    private String get(int port, String path) throws IOException {
        try {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build();
            return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private String log() {
        try {
            return Files.readString(folder.resolve("prometheus.log"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static String says(Path input, Path program, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectInput(input.toFile())
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(said).isZero();
        return said;
    }

    private static AlertRules rules() throws Exception {
        Path file = Files.createTempFile("rules", ".yaml");
        try {
            return AlertRules.read(Files.writeString(file, RULES));
        } finally {
            Files.delete(file);
        }
    }

    private MetricsServer serve() throws Exception {
        return serve(SeriesPolicy.usual());
    }

    private MetricsServer serve(SeriesPolicy policy) throws Exception {
        return MetricsServer.start(
                new EveryKindOnce(EveryKind.recording(folder.resolve("every-kind.parquet"))),
                new MetricsServer.Options(
                        InetAddress.getLoopbackAddress(), 0, 0, Duration.ofSeconds(1), policy, false, Optional.empty(), Set.of(),
                        Optional.of(new OtlpTarget(
                                URI.create("http://127.0.0.1:" + Ports.free()), Duration.ofSeconds(1), Map.of(), _ -> {}))),
                new Alerting(rules(), _ -> {}));
    }

    /// Skips the test where the program is missing, or fails it where nothing may be skipped.
    private static Path program(String name) {
        Optional<Path> program = Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .map(entry -> Path.of(entry, name))
                .filter(Files::isExecutable)
                .findFirst();
        String reason = "needs " + name + ": apt-get install prometheus";
        if (program.isEmpty() && "1".equals(System.getenv("ZERNEL_REQUIRE_BPF"))) {
            throw new AssertionError(reason + " (ZERNEL_REQUIRE_BPF=1)");
        }
        if (program.isEmpty()) {
            System.out.println("skipped: " + reason);
            Assumptions.abort(reason);
        }
        return program.orElseThrow();
    }

    /// Events that give every metric a series, then nothing more.
    private static final class EveryKindOnce implements EventSource {
        private final CountDownLatch closed = new CountDownLatch(1);
        private final Path recording;
        private int batches;

        EveryKindOnce(Path recording) {
            this.recording = recording;
        }

        @Override
        public Optional<EventBatch> next() throws InterruptedException {
            batches++;
            if (batches == 1) {
                return Optional.of(EveryKind.events().batch());
            }
            if (batches == 2) {
                return Optional.of(new Events()
                        .add("mark", "later", 1, nowNanos(), 0)
                        .batch());
            }
            closed.await();
            return Optional.empty();
        }

        @Override
        public long nowNanos() {
            return EveryKind.START + 2_000_000_000L;
        }

        @Override
        public OptionalDouble overheadShare() {
            return OptionalDouble.of(0.004);
        }

        @Override
        public Facts facts() {
            return EveryKind.facts();
        }

        @Override
        public SourceState state() {
            return new SourceState("replay", "every kind", "max", false, "");
        }

        @Override
        public Optional<Recorded> recorded() {
            return Optional.of(new Recorded(recording, false));
        }

        @Override
        public void close() {
            closed.countDown();
        }
    }
}
