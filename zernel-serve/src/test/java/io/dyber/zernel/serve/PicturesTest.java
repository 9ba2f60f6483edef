package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.cli.Analyze;
import io.dyber.zernel.record.cli.Record;
import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.source.Moment;
import io.dyber.zernel.serve.source.Replay;
import io.dyber.zernel.serve.source.Speed;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The README's pictures, of a simulated job with four ranks. With Chromium installed, this draws them again:
/// `./mvnw -am -pl zernel-serve test -Dtest=PicturesTest -Dgolden.update
/// -Dsurefire.failIfNoSpecifiedTests=false`.
final class PicturesTest {
    private static final Path IMAGES = Path.of("../docs/images");
    private static final int WIDTH = 1100;
    private static final int MOST_BYTES = 200_000;

    @TempDir
    private Path folder;

    @Test
    void theReadmesPicturesAreThereAndSmall() throws Exception {
        if (Boolean.getBoolean("golden.update")) {
            draw();
        }
        String readme = Files.readString(Path.of("../README.md"));
        for (String name : new String[] {"report.png", "page.png"}) {
            assertThat(readme).contains("](docs/images/" + name + ")");
            assertThat(Files.readAllBytes(IMAGES.resolve(name)))
                    .startsWith(0x89, 'P', 'N', 'G')
                    .hasSizeLessThan(MOST_BYTES);
        }
    }

    private void draw() throws Exception {
        Path recording = Path.of("target", "ranks.parquet"); // the page shows this name
        assertThat(Record.commandLine().execute("--simulate=straggler-rank", "--steps", "120", "-o", recording.toString()))
                .isZero();
        Path report = folder.resolve("report.html");
        try (PrintWriter out = new PrintWriter(report.toFile(), StandardCharsets.UTF_8)) {
            Analyze.commandLine().setOut(out).execute("report", "--html", recording.toString());
        }
        try (Browser browser = Browser.start(Browser.program().orElseThrow(), folder.resolve("browser"));
                MetricsServer server = serve(recording)) {
            browser.open(report.toUri().toString());
            assertThat(browser.await("document.readyState", "complete")).isEqualTo("complete");
            Files.write(IMAGES.resolve("report.png"), browser.picture(WIDTH, 1090));
            assertThat(server.awaitEnd()).isTrue();
            browser.open("http://localhost:" + server.metricsPort() + "/");
            assertThat(browser.await("document.querySelectorAll('#findings li').length > 0", "true")).isEqualTo("true");
            assertThat(browser.await("document.getElementById('link')?.textContent", "ended")).isEqualTo("ended");
            Files.write(IMAGES.resolve("page.png"), browser.picture(WIDTH, 1300));
        }
    }

    private static MetricsServer serve(Path recording) throws Exception {
        MetricsServer.Options options = new MetricsServer.Options(
                InetAddress.getLoopbackAddress(), 0, 0, Duration.ofMillis(200), 100, true, Optional.empty(), Set.of());
        // Before the processes end, so that they are still shown.
        Replay replay = new Replay(
                recording, new Replay.Options(Speed.MAX, false, Optional.empty(), Optional.of(Moment.parse("27s"))));
        return MetricsServer.start(replay, options, new Alerting(AlertRules.defaults(), _ -> {}));
    }
}
