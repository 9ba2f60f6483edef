package io.dyber.zernel.serve.watch;

import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The snapshots of a `zernel serve`, over a connection that is made again whenever it breaks.
public final class SnapshotStream {
    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final Duration LOOK = Duration.ofMillis(500);
    private static final int UNAUTHORIZED = 401;

    /// Each client is pinged more than twice as often.
    private static final Duration LONGEST_SILENCE = Duration.ofSeconds(75);

    private final URI address;
    private final Optional<String> token;
    private final Listener listener;
    private final Duration longestSilence;
    private final Backoff backoff = new Backoff();
    private final HttpClient client =
            HttpClient.newBuilder().connectTimeout(PATIENCE).build();

    /// Told what happens, by the thread in [#run] or one of the client's.
    public interface Listener {
        /// A snapshot has come, as JSON.
        void snapshot(String json);

        /// There is no connection.
        ///
        /// @param why one line
        /// @param retry until the next try
        void disconnected(String why, Duration retry);
    }

    /// @param token where the server asks for one
    public SnapshotStream(URI address, Optional<String> token, Listener listener) {
        this(address, token, listener, LONGEST_SILENCE);
    }

    SnapshotStream(URI address, Optional<String> token, Listener listener, Duration longestSilence) {
        this.address = address;
        this.token = token;
        this.listener = listener;
        this.longestSilence = longestSilence;
    }

    /// Connects, and connects again, until the thread is interrupted.
    public void run() throws InterruptedException {
        while (true) {
            String why = session();
            Duration wait = backoff.next();
            listener.disconnected(why, wait);
            Thread.sleep(wait);
        }
    }

    /// One connection from its start to its end; why it ended.
    private String session() throws InterruptedException {
        Session session = new Session(json -> {
            backoff.reset();
            listener.snapshot(json);
        });
        try {
            WebSocket.Builder builder = client.newWebSocketBuilder().connectTimeout(PATIENCE);
            token.ifPresent(secret -> builder.header("Authorization", "Bearer " + secret));
            WebSocket socket = builder.buildAsync(address, session).join();
            try {
                while (!session.ended.await(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
                    if (System.nanoTime() - session.heardNanos > longestSilence.toNanos()) {
                        return "nothing came for " + longestSilence.toSeconds() + " s";
                    }
                }
            } finally {
                socket.abort();
            }
            return session.why.get();
        } catch (CompletionException e) {
            return text(e.getCause() == null ? e : e.getCause());
        }
    }

    private static String text(Throwable failure) {
        return switch (failure) {
            case WebSocketHandshakeException refused -> refused.getResponse().statusCode() == UNAUTHORIZED
                    ? "the server asks for its token: --token-file FILE"
                    : "refused with HTTP status " + refused.getResponse().statusCode();
            case ConnectException _ -> "nothing listens there";
            default -> failure.getMessage() == null ? failure.toString() : failure.getMessage();
        };
    }

    /// Puts the parts of messages together.
    private static final class Session implements WebSocket.Listener {
        private static final int LARGEST_MESSAGE = 16 << 20;

        final CountDownLatch ended = new CountDownLatch(1);
        final AtomicReference<String> why = new AtomicReference<>("the connection broke");
        private final Consumer<String> messages;
        private final StringBuilder parts = new StringBuilder();
        volatile long heardNanos = System.nanoTime();

        Session(Consumer<String> messages) {
            this.messages = messages;
        }

        @Override
        public @Nullable CompletionStage<?> onPing(WebSocket socket, ByteBuffer message) {
            heardNanos = System.nanoTime();
            return WebSocket.Listener.super.onPing(socket, message);
        }

        @Override
        public @Nullable CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
            heardNanos = System.nanoTime();
            if (parts.length() + data.length() > LARGEST_MESSAGE) {
                end("a message was too large");
                return null;
            }
            parts.append(data);
            if (last) {
                String message = parts.toString();
                parts.setLength(0);
                messages.accept(message);
            }
            socket.request(1);
            return null;
        }

        @Override
        public @Nullable CompletionStage<?> onClose(WebSocket socket, int status, String reason) {
            end("the server closed the connection" + (reason.isEmpty() ? "" : ": " + reason));
            return null;
        }

        @Override
        public void onError(WebSocket socket, Throwable error) {
            end(text(error));
        }

        private void end(String reason) {
            why.set(reason);
            ended.countDown();
        }
    }
}
