package io.dyber.zernel.serve.http;

import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Decides who is answered. Where a token is asked for, who shows it, by whatever name the server was called; else who
/// calls it by a name of its own, as a page under a name that an attacker's DNS points here does not. In both cases only
/// the server's own web page, or no page at all.
public final class HostGuard {
    private static final Set<String> LOOPBACK = Set.of("localhost", "127.0.0.1", "[::1]");

    private final boolean loopbackOnly;
    private final Set<String> names;
    private final Optional<AccessToken> token;
    private volatile int pagePort = -1;

    /// Why a request is not answered.
    public enum Refusal {
        TOKEN(401, "this server asks for its token: send Authorization: Bearer TOKEN"),
        NAME(403, "this server answers only to its own name: use localhost, or start it with --allow-host NAME"),
        ORIGIN(403, "this server answers its own web page, and none of other sites");

        private final int status;
        private final String text;

        Refusal(int status, String text) {
            this.status = status;
            this.text = text;
        }

        /// The status and what to say, as text.
        public HttpEndpoint.Answer answer() {
            return HttpEndpoint.Answer.text(status, text + "\n");
        }
    }

    /// @param names other names of this server, without ports
    public HostGuard(InetAddress listening, Set<String> names, Optional<AccessToken> token) {
        this.loopbackOnly = listening.isLoopbackAddress();
        this.names = names.stream().map(HostGuard::lower).collect(Collectors.toUnmodifiableSet());
        this.token = token;
    }

    /// Where the web page is served.
    void pageAt(int port) {
        pagePort = port;
    }

    /// Why a visitor gets nothing; empty when it is answered.
    ///
    /// @param secret whether what it asks for is kept from those who do not know the token
    public Optional<Refusal> refusal(Visitor visitor, boolean secret) {
        boolean shown = token.isPresent() && visitor.token().filter(token.get()::matches).isPresent();
        if (token.isPresent() && secret && !shown) {
            return Optional.of(Refusal.TOKEN);
        }
        if (token.isEmpty() && !isOwn(visitor.host())) {
            return Optional.of(Refusal.NAME);
        }
        return acceptsOrigin(visitor, shown) ? Optional.empty() : Optional.of(Refusal.ORIGIN);
    }

    private boolean isOwn(@Nullable String host) {
        return host != null && acceptsName(lower(name(host)));
    }

    /// Where we listen for other machines too, they may call us by any address; but a name could be one that an
    /// attacker's DNS points here, so only our own name, or one that we were told, will do.
    private boolean acceptsName(String name) {
        return LOOPBACK.contains(name) || names.contains(name) || (!loopbackOnly && (isAddress(name) || isMachine(name)));
    }

    /// The page is at the name by which the server was called, and at the page's port or at the one that was called:
    /// a tunnel may lead there from another. Whoever knows the token is no page of another site.
    private boolean acceptsOrigin(Visitor visitor, boolean shown) {
        if (visitor.origin() == null) {
            return !visitor.embedded();
        }
        try {
            URI origin = new URI(visitor.origin());
            String host = visitor.host();
            String from = origin.getHost();
            if (from == null || host == null) {
                return false;
            }
            return names.contains(lower(from))
                    || (from.equalsIgnoreCase(name(host))
                            && (shown || origin.getPort() == pagePort || origin.getPort() == port(host)));
        } catch (URISyntaxException _) {
            return false;
        }
    }

    private static boolean isAddress(String name) {
        return name.startsWith("[") || name.matches("[0-9.]+");
    }

    private static boolean isMachine(String name) {
        try {
            String own = lower(InetAddress.getLocalHost().getHostName());
            return name.equals(own) || name.startsWith(own + ".") || own.startsWith(name + ".");
        } catch (UnknownHostException _) {
            return false;
        }
    }

    private static String name(String host) {
        int colon = host.lastIndexOf(':');
        return colon > host.lastIndexOf(']') ? host.substring(0, colon) : host;
    }

    /// -1 where there is none.
    private static int port(String host) {
        String port = host.substring(name(host).length());
        return port.matches(":[0-9]{1,5}") ? Integer.parseInt(port.substring(1)) : -1;
    }

    private static String lower(String name) {
        return name.toLowerCase(Locale.ROOT);
    }
}
