package io.dyber.zernel.serve.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class WebPortTest {
    private static final String REQUEST = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

    @Test
    void whoSaysNothingIsSentAway() throws Exception {
        try (WebPort port = open(new Connections.Limits(10, Duration.ofMillis(300)));
                Socket silent = connect(port)) {
            assertThat(silent.getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    void aRequestThatComesDropByDropIsNotWaitedFor() throws Exception {
        try (WebPort port = open(new Connections.Limits(10, Duration.ofMillis(300)));
                Socket slow = connect(port)) {
            assertThat(drops(slow, 500)).isLessThan(500);
        }
    }

    @Test
    void whoGetsNothingDoneMakesRoomForWhoComes() throws Exception {
        try (WebPort port = open(new Connections.Limits(10, Duration.ofMinutes(10)))) {
            List<Socket> silent = new ArrayList<>();
            try {
                for (int i = 0; i < 100; i++) {
                    silent.add(connect(port));
                }
                assertThat(ask(port)).startsWith("HTTP/1.1 200 ");
                assertThat(silent.getFirst().getInputStream().read()).isEqualTo(-1);
            } finally {
                for (Socket socket : silent) {
                    socket.close();
                }
            }
        }
    }

    @Test
    void aPortKnowsWhetherItAnswers() throws Exception {
        WebPort port = open(Connections.Limits.USUAL);
        assertThat(port.answers()).isTrue();
        port.close();
        assertThat(port.answers()).isFalse();
    }

    @Test
    void whatIsNoHttpIsRefusedInALineOfText() throws Exception {
        try (WebPort port = open(Connections.Limits.USUAL)) {
            assertThat(ask(port, "GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n"))
                    .startsWith("HTTP/1.1 400 ")
                    .doesNotContainIgnoringCase("jetty")
                    .doesNotContain("<");
            assertThat(ask(port, "GET /" + "x".repeat(20_000) + " HTTP/1.1\r\nHost: localhost\r\n\r\n"))
                    .startsWith("HTTP/1.1 414 ");
            assertThat(ask(port, "GET / HTTP/1.1\r\nHost: localhost\r\nX: " + "x".repeat(9000) + "\r\n\r\n"))
                    .startsWith("HTTP/1.1 431 ");
        }
    }

    private static WebPort open(Connections.Limits limits) throws IOException {
        return WebPort.open("test", new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), limits,
                new Handler.Abstract() {
                    @Override
                    public boolean handle(Request request, Response response, Callback callback) throws IOException {
                        WebPort.send(request, response, HttpEndpoint.Answer.text(200, "ok"), callback);
                        return true;
                    }
                });
    }

    private static Socket connect(WebPort port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port.port());
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static String ask(WebPort port) throws IOException {
        return ask(port, REQUEST);
    }

    /// The head of the answer, and what came with it.
    private static String ask(WebPort port, String request) throws IOException {
        try (Socket socket = connect(port)) {
            socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
            InputStream in = socket.getInputStream();
            byte[] buffer = new byte[4096];
            return new String(buffer, 0, Math.max(0, in.read(buffer)), StandardCharsets.US_ASCII);
        }
    }

    /// How many bytes of a request that never ends can be sent.
    private static int drops(Socket socket, int most) throws IOException, InterruptedException {
        for (int i = 0; i < most; i++) {
            try {
                socket.getOutputStream().write("GET / HTTP/1.1\r\nX: ".concat("x".repeat(most)).charAt(i));
            } catch (SocketException _) {
                return i;
            }
            Thread.sleep(20);
        }
        return most;
    }
}
