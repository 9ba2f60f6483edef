package io.dyber.zernel.serve.watch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.Alerting;
import io.dyber.zernel.serve.MetricsServer;
import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.source.Replay;
import io.dyber.zernel.serve.source.Speed;
import io.dyber.zernel.serve.source.WrittenRecording;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
final class SnapshotStreamTest {
    @TempDir
    private Path folder;

    @Test
    void aConnectionOverWhichNothingComesIsMadeAgain() throws Exception {
        BlockingQueue<String> said = new LinkedBlockingQueue<>();
        Replay replay = new Replay(
                WrittenRecording.training(folder.resolve("run.parquet"), 1_700_000_000_000_000_000L, 5), Replay.Options.at(Speed.MAX));
        MetricsServer.Options hourly = new MetricsServer.Options(
                InetAddress.getLoopbackAddress(), 0, 0, Duration.ofHours(1), 100, false, Optional.empty(), Set.of());
        try (MetricsServer server = MetricsServer.start(replay, hourly, new Alerting(AlertRules.defaults(), _ -> {}))) {
            URI address = URI.create("ws://127.0.0.1:" + server.webSocketPort() + "/");
            SnapshotStream stream = new SnapshotStream(address, Optional.empty(), new SnapshotStream.Listener() {
                @Override
                public void snapshot(String json) {}

                @Override
                public void disconnected(String why, Duration retry) {
                    said.add(why + ", again in " + retry.toSeconds() + " s");
                }
            }, Duration.ofSeconds(1));
            Thread running = Thread.ofVirtual().start(() -> run(stream));
            assertThat(said.take()).isEqualTo("nothing came for 1 s, again in 1 s");
            assertThat(said.take()).isEqualTo("nothing came for 1 s, again in 2 s");
            running.interrupt();
            running.join();
        }
    }

    private static void run(SnapshotStream stream) {
        try {
            stream.run();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
