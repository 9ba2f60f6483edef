package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Digest;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.record.cli.Record;
import io.dyber.zernel.serve.alert.Alert;
import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.fleet.FleetAnalysis;
import io.dyber.zernel.serve.http.AccessToken;
import io.dyber.zernel.serve.metric.CommonLabels;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A fleet from its digests to the metrics, the page's JSON and the alerts.
@Timeout(300)
class FleetServerTest {
    private static final int MEGABYTES = 8;
    private static final String TOKEN = "0123456789abcdef";
    private static final FleetAnalysis.Pace QUICK =
            new FleetAnalysis.Pace(Duration.ofMillis(50), Duration.ofMillis(500), Duration.ofMillis(100));

    /// Digests of four machines of two ranks each, of which rank 5 is late, of two windows one after the other.
    @TempDir
    private static Path first;

    @TempDir
    private static Path second;

    @TempDir
    Path folder;

    private final List<String> told = new CopyOnWriteArrayList<>();
    private final HttpClient asking = HttpClient.newHttpClient();
    @SuppressWarnings("NullAway.Init") // each test begins with start
    private FleetServer server;

    @BeforeAll
    static void simulate(@TempDir Path job) throws IOException {
        assertThat(Record.run("--simulate", "--seed=3", "--steps=15", "--ranks=8", "--per-node=2", "--cause=straggler-rank@rank=5",
                        "--strength=40%", "--quiet", "-o", job.toString()))
                .isZero();
        for (int node = 0; node < 4; node++) {
            try (Database database = Recordings.open(job.resolve("node000" + node + ".parquet").toString())) {
                String name = "node000" + node + Digest.SUFFIX;
                long from = 1_767_225_000_000_000_000L;
                Digest.write(database, first.resolve(name), new Digest.Window(from, from + 10_000_000_000L));
                Digest.write(database, second.resolve(name), new Digest.Window(from + 10_000_000_000L, from + 20_000_000_000L));
            }
        }
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private void start(Optional<AccessToken> token) throws IOException {
        server = FleetServer.start(
                new FleetServer.Options(folder, QUICK, InetAddress.getLoopbackAddress(), 0, CommonLabels.NONE, token, Set.of()),
                new Alerting(AlertRules.fleetDefaults(), this::hear));
    }

    private void hear(Alert alert) {
        told.add(alert.state().label() + " " + alert.rule().name() + " " + alert.labels().get("finding"));
    }

    private HttpResponse<String> send(String path, String method, HttpRequest.BodyPublisher body, String token)
            throws IOException, InterruptedException {
        HttpRequest.Builder request =
                HttpRequest.newBuilder(URI.create("http://localhost:" + server.port() + path)).method(method, body);
        if (!token.isEmpty()) {
            request.header("Authorization", "Bearer " + token);
        }
        if (method.equals("GET")) {
            return asking.send(request.build(), HttpResponse.BodyHandlers.ofString());
        }
        // A connection of its own: one over which something was refused is not used again.
        try (HttpClient sending = HttpClient.newHttpClient()) {
            return sending.send(request.build(), HttpResponse.BodyHandlers.ofString());
        }
    }

    private String get(String path) throws IOException, InterruptedException {
        return send(path, "GET", HttpRequest.BodyPublishers.noBody(), TOKEN).body();
    }

    private HttpResponse<String> put(String name, Path file, String token) throws IOException, InterruptedException {
        return send("/digests/" + name, "PUT", HttpRequest.BodyPublishers.ofFile(file), token);
    }

    private JsonNode fleet(Predicate<JsonNode> until) throws IOException, InterruptedException {
        long end = System.nanoTime() + Duration.ofMinutes(4).toNanos();
        for (;;) {
            JsonNode fleet = JsonMapper.shared().readTree(get("/api/fleet"));
            if (until.test(fleet)) {
                return fleet;
            }
            assertThat(System.nanoTime()).as("%s", fleet).isLessThan(end);
            Thread.sleep(200);
        }
    }

    private void arrive(Path from) throws IOException {
        try (Stream<Path> digests = Files.list(from)) {
            for (Path digest : digests.toList()) {
                Path part = folder.resolve("." + digest.getFileName());
                Files.copy(digest, part, StandardCopyOption.REPLACE_EXISTING);
                Files.move(part, folder.resolve(digest.getFileName()), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            }
        }
    }

    private static boolean isEvaluated(JsonNode fleet, int ranks) {
        return fleet.path("ranks").asInt() == ranks && !fleet.path("findings").isEmpty();
    }

    @Test
    void theLateRankIsInMetricsAndPageWithItsCauseAndAnAlertComesWithTheSecondRound() throws Exception {
        start(Optional.empty());
        assertThat(JsonMapper.shared().readTree(get("/api/fleet")).path("verdict").path("sentence").asString()).isEqualTo("No digest has come yet.");
        arrive(first);
        JsonNode fleet = fleet(now -> isEvaluated(now, 8));
        JsonNode worst = fleet.path("findings").path(0);
        assertThat(worst.path("found").path("name").asString()).isEqualTo("nccl_straggler");
        assertThat(worst.path("found").path("subject").asString()).startsWith("rank 5 of 8, node0002 pid ");
        assertThat(worst.path("found").path("evidence").asString()).isNotEmpty();
        assertThat(worst.path("rounds").asInt()).isOne();
        assertThat(fleet.path("verdict").path("sentence").asString()).contains("rank 5 of 8, node0002");
        assertThat(get("/metrics"))
                .contains("zernel_fleet_ranks 8.0", "zernel_fleet_machines{state=\"sending\"} 4.0")
                .containsPattern("zernel_finding_lost_seconds\\{finding=\"nccl_straggler\",subject=\"rank 5 of 8, node0002 pid \\d+\"\\} 0\\.");
        assertThat(told).isEmpty();
        arrive(second);
        assertThat(fleet(now -> now.path("findings").path(0).path("rounds").asInt() == 2).path("digests").path("read").asInt()).isEqualTo(8);
        while (told.isEmpty()) {
            Thread.sleep(20);
        }
        assertThat(told).contains("firing fleet-finding nccl_straggler");
        assertThat(get("/healthz")).isEqualTo("ok");
    }

    @Test
    void whatIsNoDigestIsNamedAndTheLastOneOfItsMachineStands() throws Exception {
        start(Optional.empty());
        arrive(first);
        fleet(now -> isEvaluated(now, 8));
        byte[] whole = Files.readAllBytes(second.resolve("node0001" + Digest.SUFFIX));
        Files.write(folder.resolve("cut.digest.parquet"), Arrays.copyOf(whole, 1000));
        byte[] damaged = whole.clone();
        Arrays.fill(damaged, 4, damaged.length / 2, (byte) 0);
        Files.write(folder.resolve("node0001" + Digest.SUFFIX), damaged);
        JsonNode fleet = fleet(now -> now.path("digests").path("damaged").asInt() == 2);
        assertThat(fleet.path("left_out").findValuesAsString("name")).contains("cut.digest.parquet", "node0001.digest.parquet");
        assertThat(fleet.path("machines").size()).isEqualTo(4);
        assertThat(fleet.path("ranks").asInt()).isEqualTo(8);
        assertThat(get("/healthz")).isEqualTo("ok");
    }

    @Test
    void aDigestIsTakenOnlyWithTheToken() throws Exception {
        start(Optional.of(new AccessToken(TOKEN)));
        Path digest = first.resolve("node0000" + Digest.SUFFIX);
        assertThat(put("a.digest.parquet", digest, "").statusCode()).isEqualTo(401);
        assertThat(put("a.digest.parquet", digest, "0123456789abcdeF").statusCode()).isEqualTo(401);
        assertThat(folder).isEmptyDirectory();
        assertThat(put("a.digest.parquet", digest, TOKEN).statusCode()).isEqualTo(201);
        assertThat(folder.resolve("a.digest.parquet")).hasSameBinaryContentAs(digest);
        fleet(now -> now.path("ranks").asInt() == 2);
    }

    @Test
    void whoIsRefusedAfterMegabytesSeesWhy() throws Exception {
        start(Optional.of(new AccessToken(TOKEN)));
        for (String name : List.of("a.digest.parquet", "..%2Fa.digest.parquet")) {
            assertRefusedAfterAll(name, "Content-Length: " + (MEGABYTES << 20));
            assertRefusedAfterAll(name, "Transfer-Encoding: chunked");
        }
    }

    private void assertRefusedAfterAll(String name, String length) throws Exception {
        byte[] megabyte = new byte[1 << 20];
        try (RawClient client = new RawClient(server.port())) {
            client.send("PUT /digests/" + name + " HTTP/1.1\r\nHost: localhost\r\n" + length + "\r\n\r\n");
            boolean chunked = length.endsWith("chunked");
            for (int i = 0; i < MEGABYTES; i++) {
                client.send(chunked ? "100000\r\n" : "");
                client.send(megabyte);
                client.send(chunked ? "\r\n" : "");
            }
            client.send(chunked ? "0\r\n\r\n" : "");
            assertThat(client.head()).as(name + ", " + length).startsWith("HTTP/1.1 401 ");
        }
    }

    @Test
    void whoWaitsToBeToldToSendIsRefusedAtOnce() throws Exception {
        start(Optional.of(new AccessToken(TOKEN)));
        try (RawClient client = new RawClient(server.port())) {
            client.send("PUT /digests/a.digest.parquet HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n");
            assertThat(client.head()).startsWith("HTTP/1.1 401 ");
        }
    }

    @Test
    void withoutATokenNothingIsTaken() throws Exception {
        start(Optional.empty());
        assertThat(put("a.digest.parquet", first.resolve("node0000" + Digest.SUFFIX), "").statusCode()).isEqualTo(403);
        assertThat(put("a.digest.parquet", first.resolve("node0000" + Digest.SUFFIX), TOKEN).statusCode()).isEqualTo(403);
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void namesThatLeadElsewhereAreRefused() throws Exception {
        start(Optional.of(new AccessToken(TOKEN)));
        Path digest = first.resolve("node0000" + Digest.SUFFIX);
        for (String name : List.of("a.parquet", ".a.digest.parquet", "..%2Fa.digest.parquet", "a%2Fb.digest.parquet",
                "a b.digest.parquet".replace(" ", "%20"), "x".repeat(300) + ".digest.parquet", "")) {
            assertThat(put(name, digest, TOKEN).statusCode()).as(name).isBetween(400, 404);
        }
        // No address at all: with the head refused, what would follow it is not read.
        try (RawClient client = new RawClient(server.port())) {
            client.send("PUT /digests/a%00.digest.parquet HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + TOKEN
                    + "\r\nContent-Length: 1000\r\n\r\n");
            assertThat(client.head()).startsWith("HTTP/1.1 400 ");
        }
        assertThat(folder).isEmptyDirectory();
        assertThat(folder.resolveSibling("a.digest.parquet")).doesNotExist();
    }

    @Test
    void whatIsTooLargeOrNotWholeLeavesNothingBehind() throws Exception {
        start(Optional.of(new AccessToken(TOKEN)));
        byte[] large = new byte[DigestUpload.LARGEST + 1];
        assertThat(send("/digests/a.digest.parquet", "PUT", HttpRequest.BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(large)), TOKEN)
                        .statusCode())
                .isEqualTo(413);
        try (RawClient client = new RawClient(server.port())) {
            client.send("PUT /digests/a.digest.parquet HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + TOKEN
                    + "\r\nContent-Length: 999999999999\r\n\r\nPAR1");
            assertThat(client.head()).startsWith("HTTP/1.1 413 ");
        }
        assertThat(send("/digests/a.digest.parquet", "PUT", HttpRequest.BodyPublishers.ofString("PAR1, they said"), TOKEN).statusCode()).isEqualTo(400);
        assertThat(send("/digests/a.digest.parquet", "GET", HttpRequest.BodyPublishers.noBody(), TOKEN).statusCode()).isEqualTo(405);
        assertThat(send("/digests/a.digest.parquet", "DELETE", HttpRequest.BodyPublishers.noBody(), TOKEN).statusCode()).isEqualTo(405);
        assertThat(folder).isEmptyDirectory();
        assertThat(get("/metrics")).contains("zernel_fleet_digests_total{fate=\"refused\"} 3.0");
    }

    @Test
    void aFolderThatIsFullTakesNoNewNames() throws Exception {
        start(Optional.empty());
        DigestUpload upload = new DigestUpload(folder, true, 1);
        Path digest = first.resolve("node0000" + Digest.SUFFIX);
        for (String name : List.of("a.digest.parquet", "a.digest.parquet")) {
            assertThat(upload.take(name, -1, Files.newInputStream(digest)).status()).isEqualTo(201);
        }
        assertThat(upload.take("b.digest.parquet", -1, Files.newInputStream(digest)).status()).isEqualTo(507);
    }

    @Test
    void theFolderHasToBeThere() throws IOException {
        start(Optional.empty());
        assertThatThrownBy(() -> FleetServer.start(
                        new FleetServer.Options(folder.resolve("none"), QUICK, InetAddress.getLoopbackAddress(), 0, CommonLabels.NONE,
                                Optional.empty(), Set.of()),
                        new Alerting(AlertRules.fleetDefaults(), _ -> {})))
                .isInstanceOf(RecordingException.class)
                .hasMessageEndingWith("none': not a folder");
    }
}
