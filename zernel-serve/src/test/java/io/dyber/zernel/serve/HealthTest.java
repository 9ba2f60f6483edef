package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.format.RecordingException;
import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.http.AccessToken;
import io.dyber.zernel.serve.http.HttpEndpoint.Answer;
import io.dyber.zernel.serve.http.HttpEndpoint.Asked;
import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.EventSource;
import io.dyber.zernel.serve.source.SourceState;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class HealthTest {
    private static final Asked ASKED = new Asked("GET", HttpFields.EMPTY, "");

    @Test
    void aServerWhoseSourceFailsIsNotWellAndSaysSoToWhoHasNoToken() throws Exception {
        try (MetricsServer server = MetricsServer.start(
                new Broken(new RecordingException("the disk is on fire", null)),
                new MetricsServer.Options(InetAddress.getLoopbackAddress(), 0, 0, Duration.ofMillis(100), 100, false,
                        Optional.of(new AccessToken("0123456789abcdef")), Set.of()),
                new Alerting(AlertRules.defaults(), _ -> {}))) {
            String answer = "";
            while (!answer.startsWith("HTTP/1.1 503 ")) {
                try (RawClient client = new RawClient(server.metricsPort())) {
                    client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
                    answer = client.rest();
                }
            }
            assertThat(answer).endsWith("\r\n\r\nsource: events are no longer read; the log says why\n");
        }
    }

    @Test
    void whatIsWrongWithARecordingIsToldAsItIs() throws Exception {
        RecordingException damaged = new RecordingException("reading 'run.parquet': damaged", "record it again");
        try (MetricsServer server = MetricsServer.start(
                new Broken(damaged),
                new MetricsServer.Options(InetAddress.getLoopbackAddress(), 0, 0, Duration.ofMillis(100), 100, false,
                        Optional.empty(), Set.of()),
                new Alerting(AlertRules.defaults(), _ -> {}))) {
            assertThatThrownBy(server::awaitEnd).isSameAs(damaged);
        }
    }

    @Test
    void everyPartThatDoesNotWorkIsNamed() {
        Health health = new Health(List.of(
                Health.Part.working("websocket", () -> false, "its port does not answer"),
                Health.Part.working("source", () -> true, "events are no longer read"),
                new Health.Part("snapshots", () -> "none was made for 31 s")));
        assertThat(health.answer(ASKED)).isEqualTo(Answer.text(503, """
                websocket: its port does not answer
                snapshots: none was made for 31 s
                """));
        assertThat(new Health(List.of()).answer(ASKED)).isEqualTo(Answer.text(200, "ok"));
    }

    /// A source that cannot be read.
    private record Broken(RuntimeException why) implements EventSource {
        @Override
        public Optional<EventBatch> next() {
            throw why;
        }

        @Override
        public long nowNanos() {
            return 0;
        }

        @Override
        public SourceState state() {
            return new SourceState("follow", "run.parquet", "1x", false, "");
        }

        @Override
        public Optional<Recorded> recorded() {
            return Optional.empty();
        }

        @Override
        public void close() {}
    }
}
