package io.dyber.zernel.serve;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A WebSocket client of the JDK, which keeps the messages it gets.
final class WebSocketClient implements WebSocket.Listener, AutoCloseable {
    private final BlockingQueue<String> messages = new LinkedBlockingQueue<>();
    private final StringBuilder parts = new StringBuilder();
    private final HttpClient client = HttpClient.newHttpClient();
    private final WebSocket socket;

    /// Connects; `origin` as a browser would send it, or null.
    WebSocketClient(int port, @Nullable String origin) {
        this(Integer.toString(port), origin);
    }

    /// Connects to e.g. `9222/devtools/page/1`.
    WebSocketClient(String portAndPath, @Nullable String origin) {
        WebSocket.Builder builder = client.newWebSocketBuilder();
        if (origin != null) {
            builder.header("Origin", origin);
        }
        socket = builder.buildAsync(URI.create("ws://127.0.0.1:" + portAndPath), this).join();
    }

    /// Connects as a script of the page does, which shows a token as a subprotocol.
    WebSocketClient(int port, String page, String token) {
        socket = client.newWebSocketBuilder()
                .header("Origin", page)
                .subprotocols("zernel", "zernel.token." + token)
                .buildAsync(URI.create("ws://127.0.0.1:" + port), this)
                .join();
    }

    void send(String message) {
        socket.sendText(message, true).join();
    }

    String next() throws InterruptedException {
        String message = messages.poll(60, TimeUnit.SECONDS);
        if (message == null) {
            throw new AssertionError("no message in 60 s");
        }
        return message;
    }

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
        parts.append(data);
        if (last) {
            messages.add(parts.toString());
            parts.setLength(0);
        }
        from.request(1);
        return null;
    }

    @Override
    public void close() {
        socket.abort();
        client.shutdownNow();
    }
}
