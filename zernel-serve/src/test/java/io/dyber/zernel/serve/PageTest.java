package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.dyber.zernel.record.cli.Record;
import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.http.AccessToken;
import io.dyber.zernel.serve.source.EventSource;
import io.dyber.zernel.serve.source.FollowedFolder;
import io.dyber.zernel.serve.source.Replay;
import io.dyber.zernel.serve.source.Speed;
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
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.CleanupMode;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// The page as a browser shows it.
@Timeout(120)
final class PageTest {
    @TempDir(cleanup = CleanupMode.ON_SUCCESS)
    private Path folder;

    private Browser browser;
    private MetricsServer server;

    @BeforeEach
    void open() throws Exception {
        Optional<Path> program = Browser.program();
        if (program.isEmpty()) {
            System.out.println("skipped: needs Chromium (apt-get install chromium)");
        }
        assumeThat(program).isPresent();
        WrittenRecording.training(folder.resolve("run.parquet"), 1_700_000_000_000_000_000L, 50);
        server = serve(Ports.free(), Ports.free());
        assertThat(server.awaitEnd()).isTrue();
        browser = Browser.start(program.orElseThrow(), folder.resolve("browser"));
        browser.open("http://localhost:" + server.metricsPort() + "/");
        assertBecomes("document.getElementById('link')?.textContent", "ended");
    }

    @AfterEach
    void close() throws Exception {
        if (browser != null) {
            browser.close();
        }
        if (server != null) {
            server.close();
        }
    }

    @Test
    void itsNumbersAreTheSources() throws Exception {
        JsonNode snapshot = get("/api/snapshot");
        String step = millis(snapshot.at("/zernel/processes/0/step/p50_ms"));
        assertBecomes(textOf("step"), step);
        assertBecomes(textOf("wait"), millis(snapshot.path("dataloader_wait_p50_ms")));
        assertBecomes(textOf("launch"), "–");
        assertBecomes(textOf("events"), "250");
        assertThat(text("lost")).endsWith(", 0 lost");
        assertBecomes("document.querySelector('#processes tbody').textContent.startsWith('python3 424250" + step + "')", "true");
        assertBecomes(textOf("phase-key"), "data loading 30 %gpu compute 50 %nccl collective 0 %optimizer step 10 %unknown 10 %");
        assertBecomes(textOf("clock"), "00:04 / 00:04");
        assertBecomes("document.querySelectorAll('.chart:not([hidden]) h2').length", "3");
    }

    @Test
    void ranksAreToldOrderedAndFoundAndTheLateOneIsMarked() throws Exception {
        showsTwentyRanks();
        String rows = "document.querySelectorAll('#processes tbody tr').length";
        assertBecomes(rows, "16");
        assertBecomes(textOf("more-processes"), "4 more");
        browser.text("document.getElementById('more-processes').click()");
        assertBecomes(rows, "20");
        assertBecomes("document.querySelector('#processes thead').textContent",
                "rankprocessstepsstep p50p99late p50data wait p50launch p99where a step goes");

        browser.text("document.querySelector('[data-column=rank]').click()");
        assertBecomes("[...document.querySelectorAll('#processes tbody tr')].map(row => row.cells[0].textContent).join(' ')",
                "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19");
        browser.text("document.querySelector('[data-column=late]').click()");
        assertBecomes("document.querySelectorAll('#processes .late').length", "1");
        assertBecomes("document.querySelector('#processes tbody tr').cells[5].className", "late");

        browser.text("(filter => { filter.value = 'rank 1'; filter.oninput(); })(document.getElementById('process-filter'))");
        assertBecomes(rows, "11");
    }

    @Test
    void aPageThatIsScrolledStaysWhereItIsAfterAClick() throws Exception {
        assertBecomes("document.querySelectorAll('#findings li').length > 0", "true");
        browser.phone(390, 400);
        browser.text("(button => { button.focus(); button.click(); })(document.querySelector('#processes tbody button'))");
        String scrolled = browser.text("(() => { scrollTo(0, 99999); return Math.round(scrollY); })()");
        assertThat(Integer.parseInt(scrolled)).isGreaterThan(400);
        awaitSnapshot();
        awaitSnapshot();
        assertThat(browser.text("document.activeElement.dataset.pid")).isEqualTo("4242");
        assertThat(browser.text("Math.round(scrollY)")).isEqualTo(scrolled);
    }

    @Test
    void aClickThatTakesLongerThanASnapshotIsOne() throws Exception {
        showsTwentyRanks();
        assertBecomes("document.querySelectorAll('#processes tbody tr').length", "16");
        String second = "#processes tbody tr:nth-child(2) button";
        browser.text("document.querySelector('" + second + "').scrollIntoView({block: 'center'})");
        browser.mouse("mousePressed", second);
        String pid = browser.text("document.querySelector('" + second + "').dataset.pid");
        awaitSnapshot();
        awaitSnapshot();
        browser.mouse("mouseReleased", second);
        assertBecomes("document.querySelector('#processes [aria-pressed=true]').dataset.pid", pid);
    }

    @Test
    void itSaysWhichLinesHoldTheTime() throws Exception {
        String lines = "document.getElementById('lines').textContent";
        assertBecomes(lines, "100 %9.8 msstoragedata.py:7 loadread");
        assertThat(browser.text("document.getElementById('lines-card').hidden")).isEqualTo("false");
    }

    @Test
    void theReplayIsSteeredWithTheKeyboard() throws Exception {
        browser.text("document.getElementById('restart').focus()");
        browser.press("Tab", 9);
        assertThat(browser.text("document.activeElement.id")).isEqualTo("pause");
        browser.press("Enter", 13);
        assertBecomes("document.getElementById('pause').textContent", "Play");
        assertThat(get("/api/replay").path("paused").asBoolean()).isTrue();
        browser.press("Tab", 9);
        browser.press("Home", 36);
        assertBecomes("document.getElementById('clock').textContent", "00:00 / 00:04");
        assertBecomes("document.getElementById('link').textContent", "live");
    }

    @Test
    void itIsAsWideAsAPhone() throws Exception {
        browser.phone(390, 844);
        assertBecomes("document.documentElement.scrollWidth", "390");
        assertThat(browser.text("Math.round(document.querySelector('.chart').getBoundingClientRect().right) <= 390"))
                .isEqualTo("true");
        assertThat(browser.text("document.getElementById('pause').getBoundingClientRect().right <= 390"))
                .isEqualTo("true");
    }

    @Test
    void itsChartsBeginWithTheRecording() throws Exception {
        String points = "document.querySelector('.chart polyline').getAttribute('points').split(' ').length";
        assertBecomes(points, "5");
    }

    @Test
    void itsChartsKeepAllOfTheTime() throws Exception {
        browser.text("""
                import("/charts.js").then(({History}) => {
                  const history = new History();
                  for (let t = 0; t < 5000; t++) history.add({t: 1000 * t, values: {}});
                  const {points} = history;
                  const longest = Math.max(...points.slice(1).map((point, i) => point.t - points[i].t));
                  window.kept = [points[0].t, points.at(-1).t, points.length > 250 && points.length < 600, longest <= 16000].join(" ");
                })""");
        assertBecomes("window.kept", "0 4999000 true true");
    }

    @Test
    void aChartSaysHowManyLinesItLeavesOut() throws Exception {
        server.close();
        Path memory = WrittenRecording.write(folder.resolve("memory.parquet"), """
                SELECT e.kind, e.name, 1700000000000000000 + e.later + i AS ts_ns, 1 AS dur_ns, i AS pid, i AS tid, 1000 AS bytes,
                    i AS addr, 0 AS device
                FROM range(96, 105) AS r(i), (VALUES ('io', 'read', 0), ('gpu_alloc', 'cuMemAlloc_v2', 1000)) AS e(kind, name, later)
                """);
        server = serve(new Replay(memory, Replay.Options.at(Speed.MAX)), 0, 0, Optional.empty());
        browser.open("http://localhost:" + server.metricsPort() + "/");
        assertBecomes("document.querySelector('.chart:not([hidden]) .key')?.textContent",
                "96:0 1000 B97:0 1000 B98:0 1000 B99:0 1000 B100:0 1000 B101:0 1000 B3 more");
    }

    @Test
    void whileItWaitsForARecordingItKnowsNoTime() throws Exception {
        Path recordings = Files.createDirectory(folder.resolve("recordings"));
        server.close();
        server = serve(new FollowedFolder(recordings), 0, 0, Optional.empty());
        browser.open("http://localhost:" + server.metricsPort() + "/");
        assertBecomes("document.getElementById('link')?.textContent", "live");
        assertBecomes(textOf("source"), "following " + recordings + " · waiting for a recording to begin in " + recordings);
        WrittenRecording.training(
                Files.createDirectory(recordings.resolve("run.parquet.live")).resolve("000000.parquet"), 1_700_000_000_000_000_000L, 50);
        assertBecomes("document.querySelectorAll('.chart:not([hidden])').length > 0", "true");
        assertThat(browser.text("document.querySelector('.chart:not([hidden]) .span').firstChild.textContent"))
                .isNotEqualTo(browser.text("new Date(0).toLocaleTimeString()"));
    }

    @Test
    void aTokenMayBeTypedWithABlankBehindIt() throws Exception {
        server.close();
        server = serve(new Replay(folder.resolve("run.parquet"), Replay.Options.at(Speed.MAX)), 0, 0,
                Optional.of(new AccessToken("0123456789abcdef")));
        browser.open("http://localhost:" + server.metricsPort() + "/");
        assertBecomes("document.getElementById('link')?.textContent", "the token is needed");
        browser.text("document.getElementById('token').value = '0123456789abcdef '");
        browser.text("document.getElementById('login').requestSubmit()");
        assertBecomes(textOf("link"), "ended");
    }

    @Test
    void itConnectsAgainWhenNothingComesAnyMore() throws Exception {
        browser.beforeEachPage("""
                window.sockets = [];
                window.WebSocket = class extends WebSocket {
                  constructor(...all) {
                    super(...all);
                    sockets.push(this);
                  }
                }""");
        browser.open("http://localhost:" + server.metricsPort() + "/");
        assertBecomes("window.sockets?.map(socket => socket.readyState)", "1");
        assertBecomes("document.getElementById('link')?.textContent", "ended");
        browser.text("sockets[0].onmessage = null");
        assertBecomes("sockets[1]?.readyState", "1");
        assertBecomes(textOf("link"), "ended");
        assertThat(browser.text("sockets[0].readyState > 1")).isEqualTo("true");
    }

    @Test
    void itConnectsAgainWhenTheServerIsBack() throws Exception {
        int http = server.metricsPort();
        int webSocket = server.webSocketPort();
        server.close();
        assertBecomes("document.getElementById('link').className", "off");
        assertThat(text("link")).startsWith("not connected, trying again in ");
        server = serve(http, webSocket);
        assertBecomes("document.getElementById('link').className", "");
    }

    private MetricsServer serve(int httpPort, int webSocketPort) throws IOException {
        return serve(new Replay(folder.resolve("run.parquet"), Replay.Options.at(Speed.MAX)), httpPort, webSocketPort, Optional.empty());
    }

    private static MetricsServer serve(EventSource source, int httpPort, int webSocketPort, Optional<AccessToken> token)
            throws IOException {
        return MetricsServer.start(
                source,
                new MetricsServer.Options(InetAddress.getLoopbackAddress(), httpPort, webSocketPort,
                        Duration.ofMillis(100), 100, true, token, Set.of()),
                new Alerting(AlertRules.defaults(), _ -> {}));
    }

    /// Has the page, which goes on, show a job of twenty ranks.
    private void showsTwentyRanks() throws Exception {
        int http = server.metricsPort();
        int webSocket = server.webSocketPort();
        server.close();
        assertThat(Record.commandLine().execute("--simulate=straggler-rank", "--ranks", "20", "--steps", "40", "--seed", "3",
                "-o", folder.resolve("run.parquet").toString())).isZero();
        server = serve(http, webSocket);
        assertThat(server.awaitEnd()).isTrue();
    }

    /// Waits until the page has drawn another one.
    private void awaitSnapshot() throws InterruptedException {
        browser.text("document.querySelector('#phase-key li').className = 'old'");
        assertBecomes("document.querySelectorAll('#phase-key li.old').length", "0");
    }

    /// What the page shows may be a moment old.
    private void assertBecomes(String expression, String value) throws InterruptedException {
        assertThat(browser.await(expression, value)).isEqualTo(value);
    }

    private static String textOf(String id) {
        return "document.getElementById('" + id + "').textContent";
    }

    private String text(String id) throws InterruptedException {
        return browser.text(textOf(id));
    }

    private static String millis(JsonNode value) {
        return String.format(Locale.ROOT, "%.1f ms", value.asDouble());
    }

    private JsonNode get(String path) throws IOException, InterruptedException {
        try (HttpClient http = HttpClient.newHttpClient()) {
            return new JsonMapper().readTree(http.send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.metricsPort() + path)).build(),
                    HttpResponse.BodyHandlers.ofString()).body());
        }
    }
}
