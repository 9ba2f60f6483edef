package io.dyber.zernel.serve.otlp;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/// Where to push, and how often.
///
/// @param base under which a Collector takes `v1/metrics` and `v1/logs`, without a slash at its end
/// @param interval between pushes
/// @param headers of each request, which may hold secrets
/// @param log told one line when pushes no longer arrive, and when they do again
public record OtlpTarget(URI base, Duration interval, Map<String, String> headers, Consumer<String> log) {
    /// The variable of the environment that has the headers, as OpenTelemetry's specification calls it.
    public static final String HEADERS = "OTEL_EXPORTER_OTLP_HEADERS";

    private static final String TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";

    public OtlpTarget {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /// Reads the base URL.
    ///
    /// @throws IllegalArgumentException if nobody can be pushed to by it; the message is one line
    public static URI parseBase(String text) {
        String stem = text.replaceFirst("/+$", "");
        if (stem.matches(".*/v1/(metrics|logs|traces)")) {
            throw bad(text, "the path of a signal is added to it; give " + stem.replaceFirst("/v1/\\w+$", ""));
        }
        try {
            URI url = new URI(stem);
            String scheme = url.getScheme() == null ? "" : url.getScheme().toLowerCase(Locale.ROOT);
            if (!List.of("http", "https").contains(scheme)) {
                throw bad(text, "not an http or https URL; give one like http://collector:4318");
            }
            if (url.getHost() == null) {
                throw bad(text, "no host in it, whose name has letters, digits, - and .; give one like http://collector:4318");
            }
            if (url.getUserInfo() != null) {
                throw bad(text.replaceFirst("//.*@", "//"), "it has a password, which all would see; give it in " + HEADERS);
            }
            if (url.getQuery() != null || url.getFragment() != null) {
                throw bad(text, "a base URL has no ? and no #; give one like http://collector:4318");
            }
            return url;
        } catch (URISyntaxException _) {
            throw bad(text, "not a URL; give one like http://collector:4318");
        }
    }

    private static IllegalArgumentException bad(String text, String why) {
        return new IllegalArgumentException("pushing to '" + text + "': " + why);
    }

    /// Reads `name=value,name=value`, in which values are encoded as in URLs.
    ///
    /// @throws IllegalArgumentException if it is not that; the message is one line, without what may be secret
    public static Map<String, String> parseHeaders(String text) {
        Map<String, String> headers = new LinkedHashMap<>();
        for (String header : text.split(",")) {
            int end = header.indexOf('=');
            if (header.isBlank()) {
                continue;
            }
            if (end < 0 || !header.substring(0, end).strip().matches(TOKEN)) {
                throw badHeaders("not NAME=VALUE with commas between; write a comma in a value as %2C");
            }
            headers.put(header.substring(0, end).strip(), decoded(header.substring(end + 1).strip()));
        }
        return headers;
    }

    /// A plus stands for itself, as in base64.
    private static String decoded(String value) {
        String decoded;
        try {
            decoded = URLDecoder.decode(value.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException _) {
            throw badHeaders("a % in a value is no code of a character; write it as %25");
        }
        if (!decoded.matches("[\\x20-\\x7e]*")) {
            throw badHeaders("a value has a character that is not printable ASCII; encode it as its reader wants it");
        }
        return decoded;
    }

    private static IllegalArgumentException badHeaders(String why) {
        return new IllegalArgumentException("reading '" + HEADERS + "': " + why);
    }

    /// Where the signal `metrics` or `logs` goes.
    String endpoint(String signal) {
        return base + "/v1/" + signal;
    }
}
