package io.dyber.zernel.serve.http;

import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Keeps web pages of other sites out: a browser sends the name that the user's address bar or the page's script used
/// (`Host`) and where the script came from (`Origin`); both must name this machine. Programs that are no browsers
/// send no `Origin`. Where a token is asked for, it keeps out who does not know it.
public final class HostGuard {
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

    private final boolean loopbackOnly;
    private final Optional<AccessToken> token;

    public HostGuard(InetAddress listening, Optional<AccessToken> token) {
        this.loopbackOnly = listening.isLoopbackAddress();
        this.token = token;
    }

    /// Whether a request has the token that is asked for, if one is.
    ///
    /// @param authorization the header `Authorization`
    /// @param query what follows `?` in the address
    public boolean acceptsToken(@Nullable String authorization, @Nullable String query) {
        return token.isEmpty() || token.get().isIn(authorization, query);
    }

    /// Whether a request was meant for this server, and not sent by a page under a name that leads here.
    ///
    /// @param host the header `Host`
    public boolean acceptsHost(@Nullable String host) {
        return host != null && acceptsName(withoutPort(host));
    }

    /// Whether the page that sent a request may read the answer.
    ///
    /// @param origin the header `Origin`
    public boolean acceptsOrigin(@Nullable String origin) {
        if (origin == null) {
            return true;
        }
        try {
            String host = new URI(origin).getHost();
            return host != null && acceptsName(host);
        } catch (URISyntaxException _) {
            return false;
        }
    }

    /// Where we listen for other machines too, they may call us by any address; but a name could be one that an
    /// attacker's DNS points here, so only our own name will do.
    private boolean acceptsName(String name) {
        String lower = name.toLowerCase(Locale.ROOT);
        return LOOPBACK.contains(lower) || (!loopbackOnly && (isAddress(lower) || isOwnName(lower)));
    }

    private static boolean isAddress(String name) {
        return name.startsWith("[") || name.matches("[0-9.]+");
    }

    private static boolean isOwnName(String name) {
        try {
            String own = InetAddress.getLocalHost().getHostName().toLowerCase(Locale.ROOT);
            return name.equals(own) || name.startsWith(own + ".") || own.startsWith(name + ".");
        } catch (UnknownHostException _) {
            return false;
        }
    }

    private static String withoutPort(String host) {
        int colon = host.lastIndexOf(':');
        return colon > host.lastIndexOf(']') ? host.substring(0, colon) : host;
    }
}
