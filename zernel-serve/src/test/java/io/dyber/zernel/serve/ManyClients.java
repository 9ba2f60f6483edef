package io.dyber.zernel.serve;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;

/// WebSocket clients on loopback that read and forget what they get, all on one thread.
final class ManyClients implements AutoCloseable {
    private static final String HANDSHAKE = """
            GET / HTTP/1.1\r
            Host: localhost\r
            Upgrade: websocket\r
            Connection: Upgrade\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            Sec-WebSocket-Version: 13\r
            \r
            """;

    private final Selector selector = Selector.open();
    private final Thread reader = new Thread(this::read, "clients");
    private final AtomicLong bytes = new AtomicLong();

    ManyClients(int port, int clients) throws IOException {
        for (int i = 0; i < clients; i++) {
            SocketChannel channel = SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            channel.write(ByteBuffer.wrap(HANDSHAKE.getBytes(StandardCharsets.US_ASCII)));
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_READ);
        }
        reader.start();
    }

    /// What all of them have got so far.
    long bytes() {
        return bytes.get();
    }

    private void read() {
        ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 18);
        try {
            while (selector.isOpen()) {
                selector.select(key -> take(key, buffer));
            }
        } catch (IOException | java.nio.channels.ClosedSelectorException _) {
            // closed
        }
    }

    private void take(SelectionKey key, ByteBuffer buffer) {
        try {
            buffer.clear();
            int read = ((SocketChannel) key.channel()).read(buffer);
            if (read < 0) {
                key.cancel();
            }
            bytes.addAndGet(Math.max(0, read));
        } catch (IOException _) {
            key.cancel();
        }
    }

    @Override
    public void close() throws IOException {
        for (SelectionKey key : selector.keys()) {
            key.channel().close();
        }
        selector.close();
    }
}
