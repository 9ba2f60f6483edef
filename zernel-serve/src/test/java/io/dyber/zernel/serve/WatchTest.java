package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.source.Replay;
import io.dyber.zernel.serve.source.Speed;
import io.dyber.zernel.serve.source.WrittenRecording;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// `zernel watch` in a real terminal, which is tmux's.
@Timeout(120)
final class WatchTest {
    @TempDir
    private Path folder;

    private MetricsServer server;

    @BeforeEach
    void start() throws Exception {
        boolean hasTmux = Commands.succeeds("tmux", "-V");
        if (!hasTmux) {
            System.out.println("skipped: needs tmux (apt-get install tmux)");
        }
        assumeThat(hasTmux).isTrue();
        WrittenRecording.training(folder.resolve("run.parquet"), 1_700_000_000_000_000_000L, 50);
        server = serve(Ports.free(), Ports.free());
        assertThat(server.awaitEnd()).isTrue();
    }

    @AfterEach
    void close() throws Exception {
        if (server != null) {
            server.close();
            Commands.succeeds("tmux", "-S", socket(), "kill-server");
        }
    }

    @Test
    void itIsAScreenOfAnySizeThatObeysItsKeysAndConnectsAgain() throws Exception {
        tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", watch());
        List<String> small = await(screen -> screen.getFirst().startsWith("Zernel  connected") && shows(screen, "python3 4242"));
        assertThat(small).hasSize(24).allMatch(line -> line.length() <= 80);
        assertThat(small.getLast()).startsWith("q quit  p pause  j k scroll  order by: s steps*  r rank");
        assertThat(small).anyMatch(line -> line.startsWith("python3 4242  50 steps  step p50 99.9 ms"));

        tmux("resize-window", "-x", "200", "-y", "50");
        List<String> large = await(screen -> screen.size() == 50 && screen.getLast().startsWith("q quit"));
        assertThat(large).allMatch(line -> line.length() <= 200).anyMatch(line -> line.length() > 150);

        tmux("send-keys", "w");
        await(screen -> shows(screen, "w data wait*"));
        tmux("send-keys", "p");
        await(screen -> screen.getFirst().startsWith("Zernel  paused  connected"));
        tmux("send-keys", "p");
        await(screen -> screen.getFirst().startsWith("Zernel  connected"));

        int http = server.metricsPort();
        int webSocket = server.webSocketPort();
        server.close();
        await(screen -> screen.getFirst().contains("not connected: ") && screen.getFirst().contains("trying again in "));
        server = serve(http, webSocket);
        await(screen -> screen.getFirst().startsWith("Zernel  connected"));

        tmux("send-keys", "q");
        await(screen -> shows(screen, "it ended with 0"));
    }

    /// The shell's command line: the program, and what it ended with.
    private String watch() {
        return "'%s' -cp '%s' io.dyber.zernel.serve.cli.Zernel watch --port %d; echo it ended with $?; sleep 60".formatted(
                Path.of(System.getProperty("java.home"), "bin", "java"), System.getProperty("java.class.path"),
                server.webSocketPort());
    }

    private MetricsServer serve(int httpPort, int webSocketPort) throws IOException {
        return MetricsServer.start(
                new Replay(folder.resolve("run.parquet"), Replay.Options.at(Speed.MAX)),
                new MetricsServer.Options(InetAddress.getLoopbackAddress(), httpPort, webSocketPort,
                        Duration.ofMillis(100), 100, false, Optional.empty(), Set.of()),
                new Alerting(AlertRules.defaults(), _ -> {}));
    }

    private static boolean shows(List<String> screen, String text) {
        return screen.stream().anyMatch(line -> line.contains(text));
    }

    /// Looks until the screen is as expected; the test's limit of time ends that.
    private List<String> await(Predicate<List<String>> expected) throws IOException, InterruptedException {
        List<String> screen = screen();
        while (!expected.test(screen)) {
            Thread.sleep(100);
            screen = screen();
        }
        return screen;
    }

    private List<String> screen() throws IOException, InterruptedException {
        return tmux("capture-pane", "-p").lines().toList();
    }

    private String tmux(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("tmux", "-u", "-S", socket()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(() -> command + ": " + said).isZero();
        return said;
    }

    private String socket() {
        return folder.resolve("tmux").toString();
    }
}
