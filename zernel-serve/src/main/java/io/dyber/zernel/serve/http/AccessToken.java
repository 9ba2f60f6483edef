package io.dyber.zernel.serve.http;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Optional;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;

/// The secret that clients show where a server listens for other machines: programs as `Authorization: Bearer TOKEN`,
/// scripts of a web page, which cannot set that header on a WebSocket, as a subprotocol `zernel.token.TOKEN` beside
/// `zernel`. Never in an address, which logs and proxies keep.
public final class AccessToken {
    /// The subprotocol that a WebSocket speaks where its client offers one.
    public static final String PROTOCOL = "zernel";

    private static final int SHORTEST = 16;
    private static final String SCHEME = "Bearer ";
    private static final String OFFER = PROTOCOL + ".token.";

    private final byte[] token;

    /// @throws IllegalArgumentException if it can be guessed or cannot be sent
    public AccessToken(String token) {
        if (!token.matches("[A-Za-z0-9._~-]{" + SHORTEST + ",200}")) {
            throw new IllegalArgumentException(
                    "a token is one line of at least " + SHORTEST + " letters, digits, '-', '.', '_' or '~'");
        }
        this.token = token.getBytes(StandardCharsets.US_ASCII);
    }

    /// What a request shows, right or wrong.
    static Optional<String> shownBy(HttpFields headers) {
        String authorization = headers.get(HttpHeader.AUTHORIZATION);
        if (authorization != null) {
            return Optional.of(authorization)
                    .filter(shown -> shown.regionMatches(true, 0, SCHEME, 0, SCHEME.length()))
                    .map(shown -> shown.substring(SCHEME.length()).strip());
        }
        return headers.getCSV(HttpHeader.SEC_WEBSOCKET_SUBPROTOCOL, false).stream()
                .filter(offered -> offered.startsWith(OFFER))
                .map(offered -> offered.substring(OFFER.length()))
                .findFirst();
    }

    /// In a time that does not tell how much of it is right.
    boolean matches(String shown) {
        return MessageDigest.isEqual(token, shown.getBytes(StandardCharsets.UTF_8));
    }
}
