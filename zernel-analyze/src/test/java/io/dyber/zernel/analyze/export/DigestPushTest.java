package io.dyber.zernel.analyze.export;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What becomes of a digest that is sent.
class DigestPushTest {
    @TempDir
    Path folder;

    private final Deque<Integer> answers = new ArrayDeque<>();
    private final List<String> asked = new CopyOnWriteArrayList<>();
    private HttpServer server;

    @BeforeEach
    void listen() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            asked.add(exchange.getRequestMethod() + " " + exchange.getRequestURI() + " "
                    + exchange.getRequestHeaders().getFirst("Authorization") + " " + body);
            byte[] answer = "full\nof it".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(answers.removeFirst(), answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private String send(Integer... statuses) throws IOException, InterruptedException {
        answers.addAll(List.of(statuses));
        Path file = Files.writeString(folder.resolve("d"), "digest");
        URI base = URI.create("http://localhost:" + server.getAddress().getPort() + "/");
        try (DigestPush push = new DigestPush(base, "secret", Duration.ofMillis(1))) {
            return push.send(file, "box.run.digest.parquet");
        }
    }

    @Test
    void aDigestIsPutUnderItsNameWithTheToken() throws Exception {
        assertThat(send(201)).isEmpty();
        assertThat(asked).containsExactly("PUT /digests/box.run.digest.parquet Bearer secret digest");
    }

    @Test
    void whatFailsIsTriedThreeTimesAndThenSaid() throws Exception {
        assertThat(send(503, 500, 201)).isEmpty();
        assertThat(asked).hasSize(3);
        assertThat(send(503, 503, 503)).isEqualTo("status 503: full");
        assertThat(asked).hasSize(6);
    }

    @Test
    void whatIsRefusedIsNotTriedAgain() throws Exception {
        assertThat(send(401)).isEqualTo("status 401: full");
        assertThat(asked).hasSize(1);
    }
}
