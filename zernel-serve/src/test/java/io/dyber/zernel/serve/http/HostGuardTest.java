package io.dyber.zernel.serve.http;

import static io.dyber.zernel.serve.http.HostGuard.Refusal.NAME;
import static io.dyber.zernel.serve.http.HostGuard.Refusal.ORIGIN;
import static io.dyber.zernel.serve.http.HostGuard.Refusal.TOKEN;
import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.Set;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.Test;

final class HostGuardTest {
    private static final AccessToken SECRET = new AccessToken("0123456789abcdef");

    @Test
    void whoShowsTheTokenMayCallTheServerByAnyName() throws Exception {
        HostGuard guard = guard("0.0.0.0", Set.of(), Optional.of(SECRET));
        assertThat(guard.refusal(visitor("Host", "zernel.monitoring.svc:9091", "Authorization", "Bearer 0123456789abcdef"), true))
                .isEmpty();
        assertThat(guard.refusal(visitor("Host", "localhost:9091", "Authorization", "Bearer 0123456789abcdeg"), true))
                .hasValue(TOKEN);
        assertThat(guard.refusal(visitor("Host", "localhost:9091"), true)).hasValue(TOKEN);
        assertThat(guard.refusal(visitor("Host", "zernel.monitoring.svc:9091"), false)).isEmpty();
    }

    @Test
    void withoutATokenOnlyItsOwnNamesAndThoseItWasToldWillDo() throws Exception {
        HostGuard guard = guard("127.0.0.1", Set.of("Zernel.Example"), Optional.empty());
        assertThat(guard.refusal(visitor("Host", "LOCALHOST:9091"), true)).isEmpty();
        assertThat(guard.refusal(visitor("Host", "[::1]:9091"), true)).isEmpty();
        assertThat(guard.refusal(visitor("Host", "zernel.example"), true)).isEmpty();
        assertThat(guard.refusal(visitor("Host", "evil.example"), true)).hasValue(NAME);
        assertThat(guard.refusal(visitor("Host", "localhost.evil.example"), true)).hasValue(NAME);
        assertThat(guard.refusal(visitor("Host", "10.0.0.1"), true)).hasValue(NAME);
        assertThat(guard.refusal(visitor(), true)).hasValue(NAME);
        assertThat(guard("0.0.0.0", Set.of(), Optional.empty()).refusal(visitor("Host", "10.0.0.1:80"), true)).isEmpty();
    }

    @Test
    void onlyThePageOfTheServerMayAsk() throws Exception {
        HostGuard guard = guard("127.0.0.1", Set.of("zernel.example"), Optional.empty());
        guard.pageAt(9091);
        assertThat(guard.refusal(visitor("Host", "localhost:9092", "Origin", "http://localhost:9091"), true)).isEmpty();
        assertThat(guard.refusal(visitor("Host", "localhost:19091", "Origin", "http://localhost:19091"), true)).isEmpty();
        assertThat(guard.refusal(visitor("Host", "localhost:9092", "Origin", "https://zernel.example"), true)).isEmpty();
        assertThat(guard.refusal(visitor("Host", "localhost:9092", "Origin", "http://localhost:3000"), true)).hasValue(ORIGIN);
        assertThat(guard.refusal(visitor("Host", "localhost:9092", "Origin", "http://127.0.0.1:9091"), true)).hasValue(ORIGIN);
        assertThat(guard.refusal(visitor("Host", "localhost:9091", "Origin", "null"), true)).hasValue(ORIGIN);
        assertThat(guard.refusal(visitor("Host", "localhost:9091", "Origin", "http://evil.example"), true)).hasValue(ORIGIN);
        assertThat(guard.refusal(visitor("Host", "localhost:9091", "Origin", "http://["), true)).hasValue(ORIGIN);
    }

    @Test
    void theTokenDoesNotLetPagesOfOtherSitesIn() throws Exception {
        HostGuard guard = guard("127.0.0.1", Set.of(), Optional.of(SECRET));
        guard.pageAt(9091);
        String offer = "zernel, zernel.token.0123456789abcdef";
        assertThat(guard.refusal(
                        visitor("Host", "gpu7:9092", "Origin", "http://gpu7:80", "Sec-WebSocket-Protocol", offer), true))
                .isEmpty();
        assertThat(guard.refusal(
                        visitor("Host", "gpu7:9092", "Origin", "http://evil.example", "Sec-WebSocket-Protocol", offer), true))
                .hasValue(ORIGIN);
    }

    @Test
    void aPageOfAnotherSiteMayLinkHereButNotShowAPart() throws Exception {
        HostGuard guard = guard("127.0.0.1", Set.of(), Optional.empty());
        assertThat(guard.refusal(visitor("Host", "localhost", "Sec-Fetch-Site", "same-site"), true)).hasValue(ORIGIN);
        assertThat(guard.refusal(visitor("Host", "localhost", "Sec-Fetch-Site", "same-origin"), true)).isEmpty();
        assertThat(guard.refusal(
                        visitor("Host", "localhost", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"), true))
                .isEmpty();
    }

    private static HostGuard guard(String address, Set<String> names, Optional<AccessToken> token)
            throws UnknownHostException {
        return new HostGuard(InetAddress.getByName(address), names, token);
    }

    private static Visitor visitor(String... namesAndValues) {
        HttpFields.Mutable headers = HttpFields.build();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            headers.add(namesAndValues[i], namesAndValues[i + 1]);
        }
        return Visitor.of(headers);
    }
}
