package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.source.Replay;
import io.dyber.zernel.serve.source.Speed;
import io.dyber.zernel.serve.source.WrittenRecording;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What a client that means harm may send: it is refused, and the others are served as before.
@Timeout(60)
final class AttackTest {
    private static final int TEXT = 0x81;
    private static final int BINARY = 0x82;
    private static final int CLOSE = 0x88;
    private static final int TEXT_TO_BE_CONTINUED = 0x01;
    private static final int CONTINUATION = 0x00;

    @TempDir
    private static Path folder;

    private MetricsServer server;

    @BeforeEach
    void serve() throws IOException, InterruptedException {
        Path file = WrittenRecording.training(folder.resolve("run.parquet"), 1_700_000_000_000_000_000L, 10);
        server = MetricsServer.start(
                new Replay(file, Replay.Options.at(Speed.MAX)),
                new MetricsServer.Options(InetAddress.getLoopbackAddress(), 0, 0, Duration.ofMillis(100), 100, false,
                        Optional.empty(), Set.of()),
                new Alerting(AlertRules.defaults(), _ -> {}));
        assertThat(server.awaitEnd()).isTrue();
    }

    @AfterEach
    void othersAreServedAsBefore() throws Exception {
        try (RawClient scraper = new RawClient(server.metricsPort());
                WebSocketClient viewer = new WebSocketClient(server.webSocketPort(), null)) {
            scraper.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            assertThat(scraper.rest()).startsWith("HTTP/1.1 200 ").contains("zernel_steps_total{pid=\"4242\"} 10");
            assertThat(viewer.next()).contains("last_update_ms");
        } finally {
            server.close();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {4097, 100_000, Integer.MAX_VALUE - 17, Long.MAX_VALUE})
    void aFrameOfMoreThanFourKibibytesEndsItsConnection(long length) throws Exception {
        try (RawClient client = RawClient.webSocket(server.webSocketPort())) {
            client.sendFrame(BINARY, length, 4097);
            assertThat(client.closeCode()).isEqualTo(1009);
        }
    }

    @Test
    void aMessageOfManyFramesIsNoLargerThanOneOfOne() throws Exception {
        try (RawClient client = RawClient.webSocket(server.webSocketPort())) {
            client.sendFrame(TEXT_TO_BE_CONTINUED, 3000, 3000);
            client.sendFrame(CONTINUATION, 3000, 3000);
            assertThat(client.closeCode()).isEqualTo(1009);
        }
    }

    @Test
    void aMessageOfFourKibibytesIsTaken() throws Exception {
        try (RawClient client = RawClient.webSocket(server.webSocketPort())) {
            client.sendFrame(BINARY, 4096, 4096);
            client.sendFrame(BINARY, 4096, 4096);
            client.sendFrame(CLOSE, 0, 0);
            assertThat(client.closeCode()).isEqualTo(1005);
        }
    }

    @Test
    void eightHeadersOfTwoGigabytesTakeNoMemory() throws Exception {
        List<RawClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 8; i++) {
                clients.add(RawClient.webSocket(server.webSocketPort()));
                clients.getLast().sendFrame(BINARY, 2_000_000_000, 1);
            }
            othersAreServedAsBefore();
        } finally {
            closeAll(clients);
        }
        serve();
    }

    @Test
    void aFrameWithoutAMaskEndsItsConnection() throws Exception {
        try (RawClient client = RawClient.webSocket(server.webSocketPort())) {
            client.send(new byte[] {(byte) TEXT, 2, 'h', 'i'});
            assertThat(client.closeCode()).isEqualTo(1002);
        }
    }

    @Test
    void silentConnectionsKeepNobodyOut() throws Exception {
        List<RawClient> silent = new ArrayList<>();
        try {
            for (int i = 0; i < 1500; i++) {
                silent.add(new RawClient(server.metricsPort()));
            }
            othersAreServedAsBefore();
        } finally {
            closeAll(silent);
        }
        serve();
    }

    @Test
    void halfHandshakesKeepNobodyOut() throws Exception {
        List<RawClient> half = new ArrayList<>();
        try {
            for (int i = 0; i < 1500; i++) {
                half.add(new RawClient(server.webSocketPort()));
                half.getLast().send("GET / HTTP/1.1\r\nHost:");
            }
            othersAreServedAsBefore();
        } finally {
            closeAll(half);
        }
        serve();
    }

    @Test
    void aRequestWithTwoHostsIsRefused() throws Exception {
        assertThat(answer("GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 400 ");
    }

    @Test
    void aServerOfARecordingTakesNoFiles() throws Exception {
        assertThat(answer("PUT /digests/a.digest.parquet HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nConnection: close\r\n\r\nPAR1"))
                .startsWith("HTTP/1.1 404 ");
    }

    @Test
    void aRefusedHandshakeSaysWhy() throws Exception {
        try (RawClient client = new RawClient(server.webSocketPort())) {
            assertThat(client.handshake("Host: evil.example\r\n")).startsWith("HTTP/1.1 403 ");
        }
        try (RawClient client = new RawClient(server.webSocketPort())) {
            assertThat(client.handshake("Host: localhost\r\nOrigin: http://evil.example\r\n")).startsWith("HTTP/1.1 403 ");
        }
    }

    private String answer(String request) throws IOException {
        try (RawClient client = new RawClient(server.metricsPort())) {
            client.send(request);
            return client.rest();
        }
    }

    private static void closeAll(List<RawClient> clients) throws IOException {
        for (RawClient client : clients) {
            client.close();
        }
    }
}
