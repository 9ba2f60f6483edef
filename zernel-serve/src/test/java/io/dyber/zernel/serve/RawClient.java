package io.dyber.zernel.serve;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/// A connection over which a test sends any bytes it likes, and waits at most ten seconds for what comes back.
final class RawClient implements AutoCloseable {
    private static final int PATIENCE_MILLIS = 10_000;
    private static final int MASKED = 0x80;

    private final Socket socket = new Socket();

    RawClient(int port) throws IOException {
        socket.setSoTimeout(PATIENCE_MILLIS);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), PATIENCE_MILLIS);
    }

    /// A connection whose WebSocket handshake is done.
    static RawClient webSocket(int port) throws IOException {
        RawClient client = new RawClient(port);
        String answer = client.handshake("Host: localhost\r\n");
        if (!answer.startsWith("HTTP/1.1 101 ")) {
            throw new AssertionError(answer);
        }
        return client;
    }

    /// Asks to become a WebSocket, and returns the head of the answer.
    String handshake(String headers) throws IOException {
        send("GET / HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" + headers + "\r\n");
        return head();
    }

    void send(String text) throws IOException {
        send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    void send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
        socket.getOutputStream().flush();
    }

    /// The first `sent` bytes of a frame of an operation, whose head says that it has `length`, with a mask of zeroes.
    void sendFrame(int operation, long length, int sent) throws IOException {
        send(ByteBuffer.allocate(14 + sent)
                .put((byte) operation).put((byte) (MASKED | 127)).putLong(length).putInt(0).array());
    }

    /// Says that nothing more will come.
    void endOutput() throws IOException {
        socket.shutdownOutput();
    }

    /// What comes until an empty line.
    String head() throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        while (!head.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
            int next = socket.getInputStream().read();
            if (next < 0) {
                break;
            }
            head.write(next);
        }
        return head.toString(StandardCharsets.ISO_8859_1);
    }

    /// The code with which the server closes the WebSocket, whatever it sends before; -1 when it just ends.
    int closeCode() throws IOException {
        InputStream in = socket.getInputStream();
        while (true) {
            int operation = in.read();
            if (operation < 0) {
                return -1;
            }
            byte[] payload = in.readNBytes(length(in));
            if ((operation & 0xf) == 8) {
                return payload.length < 2 ? 1005 : (payload[0] & 0xff) << 8 | (payload[1] & 0xff);
            }
        }
    }

    private static int length(InputStream in) throws IOException {
        int length = in.read();
        return switch (length) {
            case 126 -> ByteBuffer.wrap(in.readNBytes(2)).getShort() & 0xffff;
            case 127 -> Math.toIntExact(ByteBuffer.wrap(in.readNBytes(8)).getLong());
            default -> length;
        };
    }

    /// All until the server ends the connection.
    String rest() throws IOException {
        return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
