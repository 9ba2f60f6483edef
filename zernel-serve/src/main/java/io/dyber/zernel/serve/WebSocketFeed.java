package io.dyber.zernel.serve;

import io.dyber.zernel.serve.http.AccessToken;
import io.dyber.zernel.serve.http.Connections;
import io.dyber.zernel.serve.http.HostGuard;
import io.dyber.zernel.serve.http.HttpEndpoint.Answer;
import io.dyber.zernel.serve.http.Visitor;
import io.dyber.zernel.serve.http.WebPort;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.component.LifeCycle;
import org.eclipse.jetty.websocket.core.CloseStatus;
import org.eclipse.jetty.websocket.core.Configuration;
import org.eclipse.jetty.websocket.core.FrameHandler;
import org.eclipse.jetty.websocket.core.WebSocketComponents;
import org.eclipse.jetty.websocket.core.server.ServerUpgradeRequest;
import org.eclipse.jetty.websocket.core.server.ServerUpgradeResponse;
import org.eclipse.jetty.websocket.core.server.WebSocketMappings;

/// A [SnapshotFeed] on Jetty's WebSocket.
final class WebSocketFeed implements SnapshotFeed {
    private static final int CLIENTS = 10_000;
    private static final long PING_MILLIS = 30_000;

    private final Set<WebSocketSession> sessions = ConcurrentHashMap.newKeySet();
    private final WebSocketComponents components = new WebSocketComponents();
    private final WebSocketMappings mappings = new WebSocketMappings(components);
    private final Configuration.ConfigurationCustomizer limits = new Configuration.ConfigurationCustomizer();
    private final HostGuard guard;
    private final WebPort port;
    private volatile String latest = "";

    private WebSocketFeed(InetSocketAddress address, Connections.Limits connections, HostGuard guard) throws IOException {
        this.guard = guard;
        LifeCycle.start(components);
        // Frames come to the session in parts as they arrive, so that what a head says takes no memory; it counts them.
        limits.setAutoFragment(true);
        limits.setMaxFrameSize(0);
        limits.setInputBufferSize(2 * WebSocketSession.LARGEST_MESSAGE);
        limits.setIdleTimeout(Duration.ZERO); // it is pinged
        this.port = WebPort.open("zernel-websocket", address, connections, new Upgrades());
        port.every(PING_MILLIS, () -> sessions.forEach(WebSocketSession::ping));
    }

    /// Starts listening at `address`, whose port may be 0.
    static WebSocketFeed start(InetSocketAddress address, Connections.Limits connections, HostGuard guard)
            throws IOException {
        return new WebSocketFeed(address, connections, guard);
    }

    @Override
    public int port() {
        return port.port();
    }

    @Override
    public int clients() {
        return sessions.size();
    }

    @Override
    public boolean answers() {
        return port.answers();
    }

    @Override
    public void publish(String json) {
        latest = json;
        // Encoded once for all of them.
        ByteBuffer bytes = ByteBuffer.wrap(json.getBytes(StandardCharsets.UTF_8)).asReadOnlyBuffer();
        sessions.forEach(session -> session.offer(json, bytes.slice()));
    }

    @Override
    public void close() {
        sessions.forEach(session -> session.end(CloseStatus.SHUTDOWN, "zernel serve stops"));
        port.close();
        LifeCycle.stop(components);
    }

    /// Makes WebSockets of the requests of those who may look.
    private final class Upgrades extends Handler.Abstract {
        @Override
        public boolean handle(Request request, Response response, Callback callback) throws IOException {
            Optional<Answer> refusal = refusal(request);
            if (refusal.isPresent()) {
                WebPort.send(request, response, refusal.get(), callback);
            } else if (!mappings.upgrade(this::accept, request, response, callback, limits)) {
                response.getHeaders().put(HttpHeader.UPGRADE, "websocket");
                WebPort.send(request, response, Answer.text(426, "this port speaks WebSocket\n"), callback);
            }
            return true;
        }

        private Optional<Answer> refusal(Request request) {
            Optional<Answer> refusal = guard.refusal(Visitor.of(request.getHeaders()), true).map(HostGuard.Refusal::answer);
            return refusal.isEmpty() && sessions.size() >= CLIENTS
                    ? Optional.of(Answer.text(503, "too many clients\n"))
                    : refusal;
        }

        private FrameHandler accept(ServerUpgradeRequest request, ServerUpgradeResponse response, Callback callback) {
            response.setExtensions(List.of()); // compressing for each client costs more than it saves
            if (request.hasSubProtocol(AccessToken.PROTOCOL)) {
                response.setAcceptedSubProtocol(AccessToken.PROTOCOL);
            }
            return new WebSocketSession(sessions, () -> latest);
        }
    }
}
