package io.dyber.zernel.serve.http;

import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/// The HTTP side: pages at fixed paths.
public final class HttpEndpoint implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(HttpEndpoint.class.getName());
    private static final int LARGEST_BODY = 1 << 16;
    private static final int LARGEST_DRAINED = 32 << 20;

    private final Map<String, Page> pages;
    private final HostGuard guard;
    private final Optional<Uploads> uploads;
    private final WebPort port;

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
    public record Asked(String method, HttpFields headers, String body) {}

    /// Answers requests for one path.
    public interface Page {
        Answer answer(Asked asked) throws IOException;

        /// Whether it also takes a POST.
        default boolean takesPost() {
            return false;
        }

        /// Whether it is for everybody, with or without a token: it holds nothing of a recording.
        default boolean isPublic() {
            return false;
        }
    }

    /// Takes files by PUT, at paths below one. Who may send them is asked before any of this.
    public interface Uploads {
        /// Begins and ends with `/`.
        String folder();

        /// Takes one.
        ///
        /// @param name what comes behind the folder, which may be anything
        /// @param length as the client says, or below 0
        /// @param body of any length
        Answer take(String name, long length, InputStream body) throws IOException;
    }

    private HttpEndpoint(
            InetSocketAddress address,
            Connections.Limits limits,
            HostGuard guard,
            Map<String, Page> pages,
            Optional<Uploads> uploads)
            throws IOException {
        this.guard = guard;
        this.pages = Map.copyOf(pages);
        this.uploads = uploads;
        this.port = WebPort.open("zernel-http", address, limits, new Pages());
        guard.pageAt(port.port());
    }

    /// Starts listening at `address`, whose port may be 0.
    public static HttpEndpoint start(
            InetSocketAddress address, Connections.Limits limits, HostGuard guard, Map<String, Page> pages)
            throws IOException {
        return new HttpEndpoint(address, limits, guard, pages, Optional.empty());
    }

    /// Starts listening for files, too.
    public static HttpEndpoint start(
            InetSocketAddress address,
            Connections.Limits limits,
            HostGuard guard,
            Map<String, Page> pages,
            Uploads uploads)
            throws IOException {
        return new HttpEndpoint(address, limits, guard, pages, Optional.of(uploads));
    }

    public int port() {
        return port.port();
    }

    @Override
    public void close() {
        port.close();
    }

    private final class Pages extends Handler.Abstract {
        @Override
        public boolean handle(Request request, Response response, Callback callback) throws IOException {
            Answer answer = answer(request);
            if (answer.status() >= 400) {
                drain(request);
            }
            WebPort.send(request, response, answer, callback);
            return true;
        }
    }

    /// Takes what a client that is refused still sends, so that it sees why: a connection that is closed with some of it
    /// unread takes the answer with it. Not where that is very much, nor where the client waits to be told to send it.
    private static void drain(Request request) {
        if (request.getLength() > LARGEST_DRAINED || request.getHeaders().contains(HttpHeader.EXPECT)) {
            return;
        }
        InputStream body = Content.Source.asInputStream(request);
        byte[] block = new byte[LARGEST_BODY];
        int drained = 0;
        try {
            for (int read = 0; read >= 0 && drained <= LARGEST_DRAINED; read = body.read(block)) {
                drained += read;
            }
        } catch (IOException _) {
            // It sends no more.
        }
    }

    private Answer answer(Request request) throws IOException {
        String path = request.getHttpURI().getDecodedPath();
        Page page = pages.get(path);
        Visitor visitor = Visitor.of(request.getHeaders());
        Optional<HostGuard.Refusal> refusal = guard.refusal(visitor, page == null || !page.isPublic());
        if (refusal.isPresent()) {
            return refusal.get().answer();
        }
        if (uploads.isPresent() && path.startsWith(uploads.get().folder())) {
            return upload(uploads.get(), path, request);
        }
        if (page == null) {
            return Answer.text(404, "no such page; there are: "
                    + String.join(" ", pages.keySet().stream().sorted().toList()) + "\n");
        }
        String method = request.getMethod();
        if (!method.equals("GET") && !method.equals("HEAD") && !(method.equals("POST") && page.takesPost())) {
            return Answer.text(405, page.takesPost() ? "only GET and POST\n" : "only GET\n");
        }
        byte[] body = Content.Source.asInputStream(request).readNBytes(LARGEST_BODY + 1);
        if (body.length > LARGEST_BODY) {
            return Answer.text(413, "more than " + LARGEST_BODY + " bytes\n");
        }
        try {
            return page.answer(new Asked(method, request.getHeaders(), new String(body, StandardCharsets.UTF_8)));
        } catch (IOException | RuntimeException e) {
            LOG.log(Level.ERROR, "answering " + path, e);
            return Answer.text(500, "internal error\n");
        }
    }

    private static Answer upload(Uploads uploads, String path, Request request) {
        if (!request.getMethod().equals("PUT")) {
            return Answer.text(405, "only PUT\n");
        }
        try {
            String name = path.substring(uploads.folder().length());
            return uploads.take(name, request.getLength(), Content.Source.asInputStream(request));
        } catch (IOException | RuntimeException e) {
            LOG.log(Level.WARNING, "taking " + path, e);
            return Answer.text(500, "it could not be taken\n");
        }
    }
}
