package io.dyber.zernel.serve.http;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.VirtualThreads;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/// A port where HTTP is spoken, by Jetty: limited in the number of connections, in how long each takes and in how large
/// the head of a request is. What handlers do runs in virtual threads.
public final class WebPort implements AutoCloseable {
    private static final int THREADS = 8;
    private static final int WAITING_CONNECTIONS = 1024;
    private static final int LARGEST_HEAD = 8192;
    private static final int SWEEP_MILLIS = 1000;
    private static final int OWN_PATIENCE_MILLIS = 2000;
    private static final byte[] OWN_REQUEST = "GET /healthz HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private final Server server;
    private final ServerConnector connector;
    private final Connections connections;
    private final InetSocketAddress address;

    private WebPort(String name, ServerSocketChannel channel, Connections.Limits limits, Handler handler)
            throws IOException {
        this.address = (InetSocketAddress) channel.getLocalAddress();
        this.connections = new Connections(limits);
        QueuedThreadPool threads = new QueuedThreadPool(THREADS, 2);
        threads.setName(name);
        threads.setDaemon(true);
        threads.setVirtualThreadsExecutor(VirtualThreads.getDefaultVirtualThreadsExecutor());
        threads.setStopTimeout(0);
        this.server = new Server(threads);
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setRequestHeaderSize(LARGEST_HEAD);
        // Handlers know all paths that there are, and refuse others with what follows them read: Jetty by itself closes the
        // connection over it, which takes the answer with it.
        http.setUriCompliance(UriCompliance.UNSAFE);
        // Or a token that differs in case alone from one that came before is read as that one.
        http.setHeaderCacheCaseSensitive(true);
        this.connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(http));
        connector.setIdleTimeout(limits.patience().toMillis());
        connector.addBean(connections);
        connector.open(channel);
        server.addConnector(connector);
        server.setHandler(handler);
        server.setErrorHandler(new PlainErrors());
    }

    /// Starts listening at `address`, whose port may be 0.
    ///
    /// @param name of its threads
    public static WebPort open(String name, InetSocketAddress address, Connections.Limits limits, Handler handler)
            throws IOException {
        ServerSocketChannel channel = ServerSocketChannel.open();
        try {
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            channel.bind(address, WAITING_CONNECTIONS);
            WebPort port = new WebPort(name, channel, limits, handler);
            port.server.start();
            port.every(SWEEP_MILLIS, port.connections::sweep);
            return port;
        } catch (IOException e) {
            channel.close();
            throw e;
        } catch (Exception e) {
            channel.close();
            throw new IOException("starting the server: " + e.getMessage(), e);
        }
    }

    public int port() {
        return address.getPort();
    }

    /// Has something done again and again until this is closed.
    public void every(long millis, Runnable task) {
        server.getScheduler().schedule(() -> {
            try {
                task.run();
            } finally {
                if (server.isRunning()) {
                    every(millis, task);
                }
            }
        }, millis, TimeUnit.MILLISECONDS);
    }

    /// Whether this port still answers: it asks itself, over a connection as any client's.
    public boolean answers() {
        InetAddress host = address.getAddress();
        try (Socket socket = new Socket()) {
            socket.setSoTimeout(OWN_PATIENCE_MILLIS);
            InetAddress own = host.isAnyLocalAddress() ? InetAddress.getLoopbackAddress() : host;
            socket.connect(new InetSocketAddress(own, port()), OWN_PATIENCE_MILLIS);
            socket.getOutputStream().write(OWN_REQUEST);
            return socket.getInputStream().read() >= 0;
        } catch (IOException _) {
            return false;
        }
    }

    /// Answers a request.
    public static void send(Request request, Response response, HttpEndpoint.Answer answer, Callback callback)
            throws IOException {
        HttpFields.Mutable headers = response.getHeaders();
        response.setStatus(answer.status());
        headers.put(HttpHeader.CONTENT_TYPE, answer.contentType());
        headers.put(HttpHeader.CACHE_CONTROL, "no-store");
        headers.put("X-Content-Type-Options", "nosniff");
        headers.put("Referrer-Policy", "no-referrer");
        headers.put("X-Frame-Options", "DENY");
        headers.put("Cross-Origin-Resource-Policy", "same-origin");
        if (answer.status() == 401) {
            headers.put(HttpHeader.WWW_AUTHENTICATE, "Bearer");
        }
        byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
        if (Gzip.isWanted(request.getHeaders().get(HttpHeader.ACCEPT_ENCODING), body)) {
            headers.put(HttpHeader.CONTENT_ENCODING, "gzip");
            body = Gzip.of(body);
        }
        headers.put(HttpHeader.CONTENT_LENGTH, body.length);
        response.write(true, ByteBuffer.wrap(body), callback);
    }

    @Override
    public void close() {
        try {
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException("closing port " + port(), e);
        }
    }

    /// What Jetty itself refuses, in a line of text.
    private static final class PlainErrors extends ErrorHandler {
        @Override
        protected void generateResponse(
                Request request, Response response, int status, String message, Throwable cause, Callback callback)
                throws IOException {
            send(request, response, HttpEndpoint.Answer.text(status, message + "\n"), callback);
        }
    }
}
