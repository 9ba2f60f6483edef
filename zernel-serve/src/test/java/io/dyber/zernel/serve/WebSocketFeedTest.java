package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.http.Connections;
import io.dyber.zernel.serve.http.HostGuard;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class WebSocketFeedTest {
    private static final String LARGE = "{\"filler\":\"" + "x".repeat(1 << 20) + "\"}";

    private static final Pattern TOLD = Pattern.compile(",\"skipped_snapshots\":[1-9][0-9]*}");

    @Test
    void aClientThatNeverReadsIsSentAwayAndHoldsNobodyUp() throws Exception {
        try (WebSocketFeed feed = start();
                WebSocketClient good = new WebSocketClient(feed.port(), null);
                Socket deaf = handshake(feed.port())) {
            awaitClients(feed, 2);
            for (int i = 0; i < 500 && feed.clients() == 2; i++) {
                feed.publish(LARGE);
                assertThat(good.next()).startsWith("{\"filler\":\"xxx");
                waitUntilTaken();
            }
            awaitClients(feed, 1);
            assertThat(deaf.isClosed()).isFalse();
        }
    }

    @Test
    void aClientThatFellBehindIsToldHowMuchItMissed() throws Exception {
        try (WebSocketFeed feed = start();
                Socket slow = handshake(feed.port())) {
            awaitClients(feed, 1);
            for (int i = 0; i < 30; i++) {
                feed.publish(LARGE);
                waitUntilTaken();
            }
            String told = "";
            byte[] buffer = new byte[1 << 16];
            slow.setSoTimeout(200);
            for (int i = 0; i < 2000 && !TOLD.matcher(told).find(); i++) {
                int read = readOrNothing(slow, buffer);
                if (read == 0) {
                    feed.publish("{\"small\":1}");
                }
                // What is looked for may lie across two reads.
                String before = told.substring(Math.max(0, told.length() - 100));
                told = before + new String(buffer, 0, read, StandardCharsets.ISO_8859_1);
            }
            assertThat(told).containsPattern(TOLD);
        }
    }

    @Test
    void aThousandClientsGetEverySnapshot() throws Exception {
        String snapshot = "{\"filler\":\"" + "y".repeat(10_000) + "\"}";
        try (WebSocketFeed feed = start();
                ManyClients clients = new ManyClients(feed.port(), 1000)) {
            awaitClients(feed, 1000);
            long handshakes = settled(clients, 1);
            for (int round = 1; round <= 3; round++) {
                feed.publish(snapshot);
                long bytes = round * 1000L * (snapshot.length() + 4);
                assertThat(settled(clients, handshakes + bytes) - handshakes).isEqualTo(bytes);
            }
        }
    }

    @Test
    void whoComesLateGetsTheLatestSnapshotAtOnce() throws Exception {
        try (WebSocketFeed feed = start()) {
            feed.publish("{\"n\":1}");
            feed.publish("{\"n\":2}");
            try (WebSocketClient late = new WebSocketClient(feed.port(), null)) {
                assertThat(late.next()).isEqualTo("{\"n\":2}");
            }
        }
    }

    private static WebSocketFeed start() throws IOException {
        InetAddress loopback = InetAddress.getLoopbackAddress();
        return WebSocketFeed.start(new InetSocketAddress(loopback, 0), Connections.Limits.USUAL, new HostGuard(loopback, Set.of(), Optional.empty()));
    }

    /// What all have got, once that is so much and has not grown for a second.
    private static long settled(ManyClients clients, long least) throws InterruptedException {
        long bytes = clients.bytes();
        int quiet = 0;
        for (int i = 0; i < 100 && (quiet < 4 || bytes < least); i++) {
            Thread.sleep(250);
            long now = clients.bytes();
            quiet = now == bytes ? quiet + 1 : 0;
            bytes = now;
        }
        return bytes;
    }

    private static int readOrNothing(Socket socket, byte[] buffer) throws IOException {
        try {
            return Math.max(0, socket.getInputStream().read(buffer));
        } catch (SocketTimeoutException _) {
            return 0;
        }
    }

    private static void waitUntilTaken() throws InterruptedException {
        Thread.sleep(5);
    }

    private static void awaitClients(WebSocketFeed feed, int clients) throws InterruptedException {
        for (int i = 0; i < 3000 && feed.clients() != clients; i++) {
            Thread.sleep(10);
        }
        assertThat(feed.clients()).isEqualTo(clients);
    }

    /// A connection whose WebSocket handshake is done, and whose receive buffer is small.
    private static Socket handshake(int port) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(4096);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        socket.getOutputStream().write("""
                GET / HTTP/1.1\r
                Host: localhost\r
                Upgrade: websocket\r
                Connection: Upgrade\r
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                Sec-WebSocket-Version: 13\r
                \r
                """.getBytes(StandardCharsets.US_ASCII));
        assertThat(new String(socket.getInputStream().readNBytes(12), StandardCharsets.US_ASCII))
                .isEqualTo("HTTP/1.1 101");
        return socket;
    }
}
