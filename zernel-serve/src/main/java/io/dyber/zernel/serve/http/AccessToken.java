package io.dyber.zernel.serve.http;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The secret that clients show where a server listens for other machines: programs as `Authorization: Bearer TOKEN`,
/// scripts of a web page, which cannot set that header on a WebSocket, as `?token=TOKEN`.
public final class AccessToken {
    private static final int SHORTEST = 16;
    private static final String SCHEME = "Bearer ";
    private static final String PARAMETER = "token=";

    private final byte[] token;

    /// @throws IllegalArgumentException if it can be guessed or cannot be sent
    public AccessToken(String token) {
        if (!token.matches("[A-Za-z0-9._~-]{" + SHORTEST + ",200}")) {
            throw new IllegalArgumentException(
                    "a token is one line of at least " + SHORTEST + " letters, digits, '-', '.', '_' or '~'");
        }
        this.token = token.getBytes(StandardCharsets.US_ASCII);
    }

    /// @param authorization the header
    /// @param query what follows `?` in the address
    boolean isIn(@Nullable String authorization, @Nullable String query) {
        boolean inHeader = authorization != null
                && authorization.startsWith(SCHEME)
                && matches(authorization.substring(SCHEME.length()).strip());
        return inHeader || fromQuery(query).filter(this::matches).isPresent();
    }

    private static Optional<String> fromQuery(@Nullable String query) {
        return Arrays.stream(query == null ? new String[0] : query.split("&"))
                .filter(part -> part.startsWith(PARAMETER))
                .map(part -> part.substring(PARAMETER.length()))
                .findFirst();
    }

    /// In a time that does not tell how much of it is right.
    private boolean matches(String shown) {
        return MessageDigest.isEqual(token, shown.getBytes(StandardCharsets.UTF_8));
    }
}
