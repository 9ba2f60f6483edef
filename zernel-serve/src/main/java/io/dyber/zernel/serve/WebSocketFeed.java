package io.dyber.zernel.serve;

import io.dyber.zernel.serve.http.HostGuard;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.java_websocket.WebSocket;
import org.java_websocket.drafts.Draft;
import org.java_websocket.drafts.Draft_6455;
import org.java_websocket.exceptions.InvalidDataException;
import org.java_websocket.exceptions.WebsocketNotConnectedException;
import org.java_websocket.framing.CloseFrame;
import org.java_websocket.handshake.ClientHandshake;
import org.java_websocket.handshake.ServerHandshakeBuilder;
import org.java_websocket.server.WebSocketServer;
import org.jspecify.annotations.Nullable;

/// A [SnapshotFeed] on Java-WebSocket.
final class WebSocketFeed implements SnapshotFeed {
    private static final System.Logger LOG = System.getLogger(WebSocketFeed.class.getName());

    /// Snapshots in a row a client may miss before it is sent away.
    private static final int MISSES = 60;

    private static final int LARGEST_FRAME = 4096;
    private static final int SECONDS_TO_PONG = 30;
    private static final int CLIENTS = 10_000;

    private final Server server;
    private final int port;
    private volatile String latest = "";

    private WebSocketFeed(ServerSocketChannel channel, HostGuard guard) throws IOException {
        this.port = ((InetSocketAddress) channel.getLocalAddress()).getPort();
        this.server = new Server(channel, guard);
        server.setReuseAddr(true);
        server.setTcpNoDelay(true);
        server.setDaemon(true);
        server.setConnectionLostTimeout(SECONDS_TO_PONG);
    }

    /// Starts listening at `address`, whose port may be 0.
    static WebSocketFeed start(InetSocketAddress address, HostGuard guard) throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open();
        try {
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            channel.bind(address, 1024);
            WebSocketFeed feed = new WebSocketFeed(channel, guard);
            feed.server.start();
            return feed;
        } catch (IOException e) {
            channel.close();
            throw e;
        }
    }

    @Override
    public int port() {
        return port;
    }

    @Override
    public int clients() {
        return server.getConnections().size();
    }

    @Override
    public void publish(String json) {
        latest = json;
        List<WebSocket> upToDate = new ArrayList<>();
        for (WebSocket client : List.copyOf(server.getConnections())) {
            Backlog backlog = client.getAttachment();
            if (backlog == null || !client.isOpen()) {
                continue;
            }
            if (client.hasBufferedData() || backlog.missed > 0) {
                catchUp(json, client, backlog);
            } else {
                upToDate.add(client);
            }
        }
        // Encodes it once for all of them.
        server.broadcast(json, upToDate);
    }

    @Override
    public void close() {
        try {
            server.stop(500, "zernel serve stops");
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private static void catchUp(String json, WebSocket client, Backlog backlog) {
        if (client.hasBufferedData()) {
            backlog.missed++;
            if (backlog.missed >= MISSES) {
                client.closeConnection(CloseFrame.TRY_AGAIN_LATER, "too slow");
            }
            return;
        }
        send(client, withMissed(json, backlog.missed));
        backlog.missed = 0;
    }

    private static String withMissed(String json, int missed) {
        return json.substring(0, json.lastIndexOf('}')) + ",\"skipped_snapshots\":" + missed + "}";
    }

    private static void send(WebSocket client, String text) {
        try {
            client.send(text);
        } catch (WebsocketNotConnectedException _) {
            LOG.log(Level.DEBUG, "a client left while it was sent a snapshot");
        }
    }

    /// What a client has missed; touched by the publishing thread alone.
    private static final class Backlog {
        int missed;
    }

    /// The library's callbacks.
    private final class Server extends WebSocketServer {
        private final HostGuard guard;

        Server(ServerSocketChannel channel, HostGuard guard) {
            super(channel);
            this.guard = guard;
        }

        @Override
        public List<Draft> getDraft() {
            return List.of(new Draft_6455(List.of(), LARGEST_FRAME));
        }

        @Override
        public ServerHandshakeBuilder onWebsocketHandshakeReceivedAsServer(
                WebSocket client, Draft draft, ClientHandshake request) throws InvalidDataException {
            if (!guard.acceptsHost(request.getFieldValue("Host")) || !guard.acceptsOrigin(origin(request))) {
                throw new InvalidDataException(CloseFrame.POLICY_VALIDATION, "not from this machine");
            }
            if (!guard.acceptsToken(request.getFieldValue("Authorization"), query(request))) {
                throw new InvalidDataException(CloseFrame.POLICY_VALIDATION, "without the token");
            }
            if (getConnections().size() >= CLIENTS) {
                throw new InvalidDataException(CloseFrame.TRY_AGAIN_LATER, "too many clients");
            }
            return super.onWebsocketHandshakeReceivedAsServer(client, draft, request);
        }

        private static @Nullable String origin(ClientHandshake request) {
            return request.hasFieldValue("Origin") ? request.getFieldValue("Origin") : null;
        }

        private static @Nullable String query(ClientHandshake request) {
            String resource = request.getResourceDescriptor();
            int mark = resource.indexOf('?');
            return mark < 0 ? null : resource.substring(mark + 1);
        }

        @Override
        public void onOpen(WebSocket client, ClientHandshake handshake) {
            client.setAttachment(new Backlog());
            String now = latest;
            if (!now.isEmpty()) {
                send(client, now);
            }
        }

        @Override
        public void onClose(WebSocket client, int code, String reason, boolean remote) {}

        @Override
        public void onMessage(WebSocket client, String message) {}

        @Override
        public void onError(WebSocket client, Exception error) {
            LOG.log(Level.DEBUG, "WebSocket", error);
        }

        @Override
        public void onStart() {}
    }
}
