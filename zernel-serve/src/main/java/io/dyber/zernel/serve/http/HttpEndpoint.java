package io.dyber.zernel.serve.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;

/// The HTTP side: pages at fixed paths, one virtual thread per request.
public final class HttpEndpoint implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(HttpEndpoint.class.getName());
    private static final int GZIP_FROM_BYTES = 2048;
    private static final int LARGEST_BODY = 1 << 16;

    private final Map<String, Page> pages;
    private final HostGuard guard;
    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    /// What a page answers, always in UTF-8.
    public record Answer(int status, String contentType, String body) {
        public static Answer text(int status, String text) {
            return new Answer(status, "text/plain; charset=utf-8", text);
        }

        public static Answer json(int status, String text) {
            return new Answer(status, "application/json", text);
        }
    }

    /// What a client asked.
    ///
    /// @param body empty for a GET
    public record Request(String method, Headers headers, String body) {}

    /// Answers requests for one path.
    public interface Page {
        Answer answer(Request request) throws IOException;

        /// Whether it also takes a POST.
        default boolean takesPost() {
            return false;
        }

        /// Whether it is for everybody, with or without a token: it holds nothing of a recording.
        default boolean isPublic() {
            return false;
        }
    }

    private HttpEndpoint(HttpServer server, HostGuard guard, Map<String, Page> pages) {
        this.server = server;
        this.guard = guard;
        this.pages = Map.copyOf(pages);
    }

    /// Starts listening at `address`, whose port may be 0.
    public static HttpEndpoint start(InetSocketAddress address, HostGuard guard, Map<String, Page> pages)
            throws IOException {
        // The JDK's server waits for ever for the rest of a request, and takes any number of connections.
        setUnlessSet("sun.net.httpserver.maxReqTime", "20");
        setUnlessSet("sun.net.httpserver.maxRspTime", "60");
        setUnlessSet("jdk.httpserver.maxConnections", "1000");
        HttpServer server = HttpServer.create(address, 1024);
        HttpEndpoint endpoint = new HttpEndpoint(server, guard, pages);
        server.setExecutor(endpoint.threads);
        server.createContext("/", endpoint::handle);
        server.start();
        return endpoint;
    }

    private static void setUnlessSet(String property, String value) {
        if (System.getProperty(property) == null) {
            System.setProperty(property, value);
        }
    }

    public int port() {
        return server.getAddress().getPort();
    }

    @Override
    public void close() {
        server.stop(0);
        threads.shutdownNow();
    }

    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            Answer answer = answer(exchange);
            send(exchange, answer);
        } catch (IOException e) {
            LOG.log(Level.DEBUG, "a client left", e);
        }
    }

    private Answer answer(HttpExchange exchange) throws IOException {
        Headers headers = exchange.getRequestHeaders();
        if (!guard.acceptsHost(headers.getFirst("Host")) || !guard.acceptsOrigin(headers.getFirst("Origin"))) {
            return Answer.text(403, "this server answers only to its own name: use localhost\n");
        }
        Page page = pages.get(exchange.getRequestURI().getPath());
        if (page == null) {
            return Answer.text(404, "no such page; there are: "
                    + String.join(" ", pages.keySet().stream().sorted().toList()) + "\n");
        }
        String method = exchange.getRequestMethod();
        if (!method.equals("GET") && !method.equals("HEAD") && !(method.equals("POST") && page.takesPost())) {
            return Answer.text(405, page.takesPost() ? "only GET and POST\n" : "only GET\n");
        }
        if (!page.isPublic()
                && !guard.acceptsToken(headers.getFirst("Authorization"), exchange.getRequestURI().getRawQuery())) {
            exchange.getResponseHeaders().set("WWW-Authenticate", "Bearer");
            return Answer.text(401, "this server asks for its token: send Authorization: Bearer TOKEN\n");
        }
        byte[] body = exchange.getRequestBody().readNBytes(LARGEST_BODY + 1);
        if (body.length > LARGEST_BODY) {
            return Answer.text(413, "more than " + LARGEST_BODY + " bytes\n");
        }
        try {
            return page.answer(new Request(method, headers, new String(body, StandardCharsets.UTF_8)));
        } catch (IOException | RuntimeException e) {
            LOG.log(Level.ERROR, "answering " + exchange.getRequestURI().getPath(), e);
            return Answer.text(500, "internal error\n");
        }
    }

    private static void send(HttpExchange exchange, Answer answer) throws IOException {
        Headers headers = exchange.getResponseHeaders();
        headers.set("Content-Type", answer.contentType());
        headers.set("Cache-Control", "no-store");
        headers.set("X-Content-Type-Options", "nosniff");
        headers.set("Referrer-Policy", "no-referrer");
        headers.set("X-Frame-Options", "DENY");
        byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
        String accepted = exchange.getRequestHeaders().getFirst("Accept-Encoding");
        if (body.length >= GZIP_FROM_BYTES && accepted != null && accepted.contains("gzip")) {
            headers.set("Content-Encoding", "gzip");
            body = gzip(body);
        }
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.sendResponseHeaders(answer.status(), -1);
            return;
        }
        exchange.sendResponseHeaders(answer.status(), body.length == 0 ? -1 : body.length);
        exchange.getResponseBody().write(body);
    }

    /// Quickly rather than well: a scrape is read once, mostly on this machine.
    public static byte[] gzip(byte[] body) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(body.length / 4);
        try (QuickGzip gzip = new QuickGzip(bytes)) {
            gzip.write(body);
        }
        return bytes.toByteArray();
    }

    private static final class QuickGzip extends GZIPOutputStream {
        QuickGzip(OutputStream out) throws IOException {
            super(out);
            def.setLevel(Deflater.BEST_SPEED);
        }
    }
}
