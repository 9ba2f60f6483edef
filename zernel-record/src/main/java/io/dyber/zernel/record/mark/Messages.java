package io.dyber.zernel.record.mark;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// One line of JSON each way over a connection whose other end may be slow, silent or another program.
final class Messages {
    static final JsonMapper JSON = JsonMapper.shared();

    private static final int MOST_BYTES = 16 << 10;

    /// How long a peer may take over one message. A busy machine is slow, and the other side a JVM that has just begun.
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private Messages() {}

    static byte[] encode(JsonNode message) {
        return (JSON.writeValueAsString(message) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    static void write(SocketChannel peer, byte[] message) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(message);
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (bytes.hasRemaining()) {
            await(peer, SelectionKey.OP_WRITE, deadline);
            int _ = peer.write(bytes);
        }
    }

    static JsonNode read(SocketChannel peer) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(MOST_BYTES);
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (bytes.position() == 0 || bytes.get(bytes.position() - 1) != '\n') {
            await(peer, SelectionKey.OP_READ, deadline);
            if (!bytes.hasRemaining() || peer.read(bytes) < 0) {
                throw new IOException("the message has no end");
            }
        }
        try {
            return JSON.readTree(new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8));
        } catch (JacksonException e) {
            throw new IOException("the message is no JSON", e);
        }
    }

    private static void await(SocketChannel peer, int operation, long deadline) throws IOException {
        peer.configureBlocking(false);
        try (Selector selector = Selector.open()) {
            peer.register(selector, operation);
            long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (millis <= 0 || selector.select(millis) == 0) {
                throw new IOException("no answer in " + TimeUnit.NANOSECONDS.toSeconds(PATIENCE_NANOS) + " s");
            }
        }
    }
}
