package io.dyber.zernel.serve.http;

import java.util.Optional;
import java.util.Set;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.jspecify.annotations.Nullable;

/// What a request says about who sends it.
///
/// @param host the name by which it calls this server, with the port
/// @param origin the page whose script sends it; programs that are no browsers have none
/// @param token the token that it shows, right or wrong
/// @param embedded whether a page of another origin has the browser load it as a part, such as a picture
public record Visitor(@Nullable String host, @Nullable String origin, Optional<String> token, boolean embedded) {
    private static final Set<String> OWN_SITES = Set.of("none", "same-origin");

    public static Visitor of(HttpFields headers) {
        String site = headers.get("Sec-Fetch-Site");
        boolean embedded = site != null && !OWN_SITES.contains(site) && !"navigate".equals(headers.get("Sec-Fetch-Mode"));
        return new Visitor(
                headers.get(HttpHeader.HOST), headers.get(HttpHeader.ORIGIN), AccessToken.shownBy(headers), embedded);
    }
}
