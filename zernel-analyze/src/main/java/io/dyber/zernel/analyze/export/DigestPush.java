package io.dyber.zernel.analyze.export;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Sends digests to a `zernel serve --fleet`, one after the other. Nothing is queued: a digest that does not arrive after
/// some tries is given up, because the next one says more.
public final class DigestPush implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);
    private static final int TRIES = 3;
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final URI base;
    private final @Nullable String token;
    private final Duration pause;
    private final HttpClient http;

    /// @param base of the server, such as `http://head:9091`
    /// @param token that it asks for, if any
    public DigestPush(URI base, @Nullable String token) {
        this(base, token, PAUSE);
    }

    /// @param pause before the second try; twice as long before the third
    DigestPush(URI base, @Nullable String token, Duration pause) {
        this.base = base;
        this.token = token;
        this.pause = pause;
        this.http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .connectTimeout(TIMEOUT)
                .followRedirects(HttpClient.Redirect.NEVER)
                .build();
    }

    /// Sends a file under a name.
    ///
    /// @return why it was not taken; empty when it was
    public String send(Path file, String name) throws InterruptedException {
        for (int attempt = 1; ; attempt++) {
            String why;
            boolean hopeless = false;
            try {
                HttpResponse<String> answer = http.send(request(file, name), HttpResponse.BodyHandlers.ofString());
                int status = answer.statusCode();
                if (status / 100 == 2) {
                    return "";
                }
                hopeless = status / 100 == 4 && status != 408 && status != 429;
                why = "status " + status + ": " + answer.body().lines().findFirst().orElse("");
            } catch (IOException e) {
                why = e.getMessage() == null ? e.toString() : e.getMessage();
            }
            if (hopeless || attempt == TRIES) {
                return why;
            }
            Thread.sleep(pause.multipliedBy(attempt));
        }
    }

    private HttpRequest request(Path file, String name) throws IOException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(base.toString().replaceFirst("/+$", "") + "/digests/" + name))
                .timeout(TIMEOUT)
                .header("Content-Type", "application/vnd.apache.parquet")
                .PUT(HttpRequest.BodyPublishers.ofFile(file));
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        return request.build();
    }

    @Override
    public void close() {
        http.shutdownNow();
    }
}
