package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.http.AccessToken;
import io.dyber.zernel.serve.source.Replay;
import io.dyber.zernel.serve.source.Speed;
import io.dyber.zernel.serve.source.WrittenRecording;
import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Requests and frames that are almost right: none of them is told anything without the token or makes the server fail.
/// `-Dzernel.fuzz=N` sends N of them, `-Dzernel.fuzz.seed=N` others.
@Timeout(600)
final class RandomClientsTest {
    private static final int CLIENTS = Integer.getInteger("zernel.fuzz", 300);
    private static final String TOKEN = "0123456789abcdef";
    private static final String UPGRADE = """
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            Sec-WebSocket-Version: 13\r
            """;
    private static final List<String> REQUESTS = List.of(
            "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: application/openmetrics-text\r\n\r\n",
            "GET /api/snapshot?token=x HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\nOrigin: http://localhost\r\n\r\n",
            "GET /healthz HTTP/1.0\r\n\r\n",
            "POST /api/replay HTTP/1.1\r\nHost: localhost\r\nContent-Length: 15\r\n\r\n{\"paused\":true}",
            "POST /api/replay HTTP/1.1\r\nHost: [::1]:80\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n0\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer 0123456789abcdeg\r\n" + UPGRADE + "\r\n",
            "GET / HTTP/1.1\r\nHost: localhost\r\nSec-WebSocket-Protocol: zernel, zernel.token.x\r\n" + UPGRADE + "\r\n");
    private static final List<String> PIECES = List.of("\r\n", "\n", "\0", ":", " ", "%00", "%2e%2e/", "é", "HTTP/1.1",
            "Host: evil.example\r\n", "Content-Length: -1\r\n", "Content-Length: 99999999999999999999\r\n",
            "Transfer-Encoding: chunked\r\n", "Expect: 100-continue\r\n", "Authorization: Bearer \r\n", "Origin: null\r\n");

    @TempDir
    private static Path folder;

    private MetricsServer server;

    @BeforeEach
    void serve() throws IOException, InterruptedException {
        Path file = WrittenRecording.training(folder.resolve("run.parquet"), 1_700_000_000_000_000_000L, 10);
        server = MetricsServer.start(
                new Replay(file, Replay.Options.at(Speed.MAX)),
                new MetricsServer.Options(InetAddress.getLoopbackAddress(), 0, 0, Duration.ofMillis(100), 100, false,
                        Optional.of(new AccessToken(TOKEN)), Set.of()),
                new Alerting(AlertRules.defaults(), _ -> {}));
        assertThat(server.awaitEnd()).isTrue();
    }

    @AfterEach
    void theServerIsWellAndHasNotMoved() throws IOException {
        try (RawClient client = new RawClient(server.metricsPort())) {
            client.send("GET /api/replay HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer " + TOKEN + "\r\n\r\n");
            assertThat(client.rest()).startsWith("HTTP/1.1 200 ").contains("\"paused\":false");
        }
        try (RawClient client = new RawClient(server.metricsPort())) {
            client.send("GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
            assertThat(client.rest()).startsWith("HTTP/1.1 200 ").endsWith("ok");
        }
        server.close();
    }

    @Test
    void noRequestIsToldAnythingWithoutTheToken() throws IOException {
        Random random = seeded();
        for (int i = 0; i < CLIENTS; i++) {
            int port = random.nextBoolean() ? server.metricsPort() : server.webSocketPort();
            byte[] request = mutated(REQUESTS.get(random.nextInt(REQUESTS.size())), random);
            assertThat(answer(port, request))
                    .as("to %s", new String(request, StandardCharsets.ISO_8859_1))
                    .doesNotContain("4242", "python3", "HTTP/1.1 101", "HTTP/1.1 500");
        }
    }

    @Test
    void noFrameHarmsTheServer() throws IOException {
        Random random = seeded();
        for (int i = 0; i < CLIENTS; i++) {
            try (RawClient client = new RawClient(server.webSocketPort())) {
                assertThat(client.handshake("Host: x\r\nAuthorization: Bearer " + TOKEN + "\r\n")).startsWith("HTTP/1.1 101 ");
                for (int frame = 0; frame < 3; frame++) {
                    client.send(frame(random));
                }
            } catch (SocketException _) {
                // It was sent away before it had sent all.
            }
        }
    }

    private static Random seeded() {
        return new Random(Long.getLong("zernel.fuzz.seed", 0));
    }

    private static byte[] mutated(String request, Random random) {
        StringBuilder text = new StringBuilder(request);
        for (int i = random.nextInt(4); i >= 0; i--) {
            int at = random.nextInt(text.length());
            switch (random.nextInt(4)) {
                case 0 -> text.setCharAt(at, (char) random.nextInt(256));
                case 1 -> text.delete(at, Math.min(text.length() - 1, at + random.nextInt(8)));
                case 2 -> text.insert(at, PIECES.get(random.nextInt(PIECES.size())));
                default -> text.insert(at, text.substring(at, Math.min(text.length(), at + random.nextInt(4000))));
            }
        }
        return text.toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    /// Any operation, any flags, a length that is right or not, with or without a mask.
    private static byte[] frame(Random random) {
        byte[] frame = new byte[2 + random.nextInt(random.nextInt(10) == 0 ? 9000 : 200)];
        random.nextBytes(frame);
        if (random.nextBoolean()) {
            frame[0] = (byte) (0x80 | random.nextInt(16));
            frame[1] = (byte) (0x80 | Math.clamp(frame.length - 6, 0, 125));
        }
        return frame;
    }

    /// Ends the connection from our side, as many of these requests would be waited for.
    private static String answer(int port, byte[] request) throws IOException {
        try (RawClient client = new RawClient(port)) {
            client.send(request);
            client.endOutput();
            return client.rest();
        } catch (SocketException _) {
            return "";
        }
    }
}
