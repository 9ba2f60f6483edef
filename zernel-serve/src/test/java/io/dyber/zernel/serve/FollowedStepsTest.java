package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.alert.Alert;
import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.source.EventSource;
import io.dyber.zernel.serve.source.FollowedFolder;
import io.dyber.zernel.serve.source.Moment;
import io.dyber.zernel.serve.source.Replay;
import io.dyber.zernel.serve.source.Speed;
import io.dyber.zernel.serve.source.Tail;
import io.dyber.zernel.serve.source.WrittenRecording;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A recording that is being written, those that begin one after the other in a folder, and a replay that goes round, as a
/// scrape sees them.
@Timeout(120)
final class FollowedStepsTest {
    private static final long START = 1_700_000_000_000_000_000L;
    private static final String STEPS = "zernel_steps_total{pid=\"4242\"}";
    private static final String MEMORY = "zernel_gpu_memory_used_bytes{gpu_id=\"0\",pid=\"4242\"}";
    private static final String AGE = "zernel_step_age_seconds{pid=\"4242\"}";
    private static final String TEMPERATURE = "zernel_gpu_temperature_celsius{gpu_id=\"0\"}";
    private static final String MARKS = "zernel_events_total{kind=\"mark\"}";
    private static final String SECONDS = "zernel_step_seconds_sum{pid=\"4242\"}";

    @TempDir
    private Path folder;

    private final HttpClient http = HttpClient.newHttpClient();
    private Path output;
    private Path live;

    @BeforeEach
    void makeFolder() throws IOException {
        output = folder.resolve("run.parquet");
        live = Files.createDirectory(folder.resolve("run.parquet.live"));
    }

    @AfterEach
    void stop() {
        http.shutdownNow();
    }

    @Test
    void stepsOfAGrowingRecordingComeWhileItGrowsAndAtItsEndAreThoseOfTheFile() throws Exception {
        training("000000.parquet", 0, 50);
        try (MetricsServer server = start(new Tail(output))) {
            await(server, STEPS, 40);
            training("000001.parquet", 50, 50);
            await(server, STEPS, 90);
            WrittenRecording.training(output, START, 100);
            deleteLive();
            assertThat(server.awaitEnd()).isTrue();
            Map<String, Double> values = values(server);
            assertThat(values).containsEntry(STEPS, 100.0).containsEntry("zernel_source_ended", 1.0);
            assertThat(values.getOrDefault(SECONDS, 0.0)).isEqualTo(10.0);
        }
    }

    @Test
    void whatARecorderThatDiedHasLeftIsInferredToItsEnd() throws Exception {
        training("000000.parquet", 0, 20);
        Files.createFile(live.resolve("lock"));
        try (MetricsServer server = start(new Tail(output))) {
            assertThat(server.awaitEnd()).isTrue();
            assertThat(values(server)).containsEntry(STEPS, 20.0);
        }
    }

    @Test
    void stepsComeAgainWhenARecorderBeginsAnewUnderTheSameName() throws Exception {
        training("000000.parquet", 0, 50);
        try (MetricsServer server = start(new FollowedFolder(folder))) {
            await(server, STEPS, 40);
            WrittenRecording.training(output, START, 50);
            deleteLive();
            awaitWaiting(server);
            await(server, STEPS, 50);
            Files.createDirectory(live);
            training("000000.parquet", 50, 50);
            await(server, STEPS, 90);
            assertThat(values(server).getOrDefault(STEPS, 0.0)).isLessThanOrEqualTo(100.0);
        }
    }

    @Test
    void theEndOfASeriesWhoseLastFileHasAnotherNameIsNoMistake() throws Exception {
        training("000000.parquet", 0, 50);
        try (MetricsServer server = start(new Tail(output))) {
            await(server, STEPS, 40);
            WrittenRecording.training(folder.resolve("run-20260101T000000Z.parquet"), START, 50);
            deleteLive();
            assertThat(server.awaitEnd()).isTrue();
            assertThat(server.state().note()).isEqualTo("the recording has ended: " + output);
        }
    }

    @Test
    void whatRanInARecordingThatHasEndedIsOverWhenTheNextOneBegins() throws Exception {
        training("000000.parquet", 0, 50);
        segment("000001.parquet", """
                SELECT 'gpu_alloc' AS kind, 'cuMemAlloc_v2' AS name, %d AS ts_ns, 10 AS dur_ns, 4242 AS pid, 4242 AS tid,
                       1 AS addr, 3000 AS bytes, 0 AS device
                """.formatted(START + 5_000_000_000L));
        try (MetricsServer server = start(new FollowedFolder(folder))) {
            await(server, STEPS, 40);
            await(server, MEMORY, 3000);
            assertThat(values(server)).containsKey(AGE);
            WrittenRecording.training(output, START, 50);
            deleteLive();
            awaitWaiting(server);
            Files.createDirectory(live);
            segment("000000.parquet", """
                    SELECT 'mark' AS kind, 'begin' AS name, %d AS ts_ns, 4300 AS pid, 4300 AS tid
                    """.formatted(START + 600_000_000_000L));
            await(server, MARKS, 1);
            await(server, STEPS, 50);
            assertThat(values(server)).doesNotContainKeys(AGE, MEMORY).containsEntry(STEPS, 50.0);
        }
    }

    @Test
    void alertsAndSamplesOfARecordingThatHasEndedAreOver() throws Exception {
        segment("000000.parquet", """
                SELECT 'gpu_sample' AS kind, e.name, %d + e.later AS ts_ns, e.value, 0 AS device, 0 AS pid, 0 AS tid
                FROM (VALUES ('memory_total', 0, 100), ('memory_used', 0, 99), ('utilization', 0, 75), ('energy', 0, 5000000),
                    ('temperature', 10000000000, 60)) AS e(name, later, value)
                """.formatted(START));
        List<String> alerts = Collections.synchronizedList(new ArrayList<>());
        try (MetricsServer server = start(new FollowedFolder(folder), alert -> alerts.add(alert.state().label()))) {
            await(server, TEMPERATURE, 60);
            assertThat(alerts).containsExactly("firing");
            deleteLive();
            awaitWaiting(server);
            for (int i = 0; i < 100 && values(server).containsKey(TEMPERATURE); i++) {
                Thread.sleep(50);
            }
            assertThat(alerts).containsExactly("firing", "resolved");
            assertThat(values(server))
                    .doesNotContainKeys(TEMPERATURE, "zernel_gpu_utilization_ratio{gpu_id=\"0\"}",
                            "zernel_gpu_memory_used_ratio{gpu_id=\"0\"}")
                    .containsEntry("zernel_gpu_energy_joules_total{gpu_id=\"0\"}", 5000.0);
        }
    }

    @Test
    void timeBeginsWithTheFirstEvent() throws Exception {
        deleteLive();
        try (MetricsServer server = start(new FollowedFolder(folder))) {
            assertThat(values(server)).containsEntry("zernel_detail_seconds_total", 0.0);
            Thread.sleep(500);
            Files.createDirectory(live);
            segment("000000.parquet", """
                    SELECT 'mark' AS kind, 'begin' AS name, %d AS ts_ns, 4300 AS pid, 4300 AS tid
                    """.formatted(START));
            await(server, MARKS, 1);
            assertThat(values(server).getOrDefault("zernel_detail_seconds_total", 0.0)).isLessThan(60.0);
            JsonNode points = new JsonMapper().readTree(get(server, "/api/charts")).path("points");
            assertThat(points.valueStream().map(point -> point.path("t").asLong()))
                    .allMatch(millis -> millis > START / 1_000_000);
        }
    }

    @Test
    void aReplayThatLoopsCountsTheStepsOfEachRound() throws Exception {
        WrittenRecording.training(output, START, 20);
        try (MetricsServer server = start(new Replay(output, new Replay.Options(Speed.MAX, true, Optional.empty(), Optional.empty())))) {
            await(server, STEPS, 100);
            Map<String, Double> values = values(server);
            assertThat(values.getOrDefault(SECONDS, 0.0) / values.getOrDefault(STEPS, 0.0)).isBetween(0.0999, 0.1001);
        }
    }

    @Test
    void whatAReplayLeavesOutHasNoSteps() throws Exception {
        WrittenRecording.training(output, START, 20);
        Replay.Options half = new Replay.Options(Speed.MAX, false, Optional.empty(),
                Optional.of(Moment.parse("1s")));
        try (MetricsServer server = start(new Replay(output, half))) {
            assertThat(server.awaitEnd()).isTrue();
            assertThat(values(server)).containsEntry(STEPS, 10.0);
        }
    }

    /// A row group as a recorder writes it, of the steps `from` up to `from + count`.
    private void training(String name, int from, int count) throws IOException {
        Path written = WrittenRecording.training(folder.resolve(name), START + 100_000_000L * from, count);
        Files.move(written, live.resolve(name));
    }

    /// A row group of these events.
    private void segment(String name, String select) throws IOException {
        Files.move(WrittenRecording.write(folder.resolve(name), select), live.resolve(name));
    }

    private static void awaitWaiting(MetricsServer server) throws InterruptedException {
        while (!server.state().note().contains("waiting for a recording to begin")) {
            Thread.sleep(50);
        }
    }

    private void deleteLive() throws IOException {
        try (Stream<Path> files = Files.list(live)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(live);
    }

    private void await(MetricsServer server, String series, double least) throws Exception {
        while (values(server).getOrDefault(series, 0.0) < least) {
            Thread.sleep(50);
        }
    }

    private Map<String, Double> values(MetricsServer server) throws IOException, InterruptedException {
        return PrometheusText.parse(get(server, "/metrics")).values();
    }

    private String get(MetricsServer server, String page) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.metricsPort() + page)).build();
        return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    private static MetricsServer start(EventSource source) throws IOException {
        return start(source, _ -> {});
    }

    private static MetricsServer start(EventSource source, Consumer<Alert> log) throws IOException {
        return MetricsServer.start(
                source,
                new MetricsServer.Options(InetAddress.getLoopbackAddress(), 0, 0, Duration.ofMillis(100), 100, false, Optional.empty(), Set.of()),
                new Alerting(AlertRules.defaults(), log));
    }
}
