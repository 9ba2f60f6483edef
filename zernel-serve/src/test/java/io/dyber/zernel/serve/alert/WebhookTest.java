package io.dyber.zernel.serve.alert;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.dyber.zernel.serve.alert.AlertRule.Action;
import io.dyber.zernel.serve.alert.AlertRule.Comparison;
import io.dyber.zernel.serve.alert.AlertRule.Severity;
import io.dyber.zernel.serve.metric.CommonLabels;
import io.dyber.zernel.serve.metric.Metrics;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(60)
final class WebhookTest {
    private static final AlertRule RULE = new AlertRule("full", Metrics.GPU_MEMORY_RATIO, Map.of(), Comparison.ABOVE,
            0.95, Duration.ofSeconds(5), Severity.CRITICAL, Set.of(Action.WEBHOOK), "A device is almost full.");

    private final BlockingQueue<String> received = new LinkedBlockingQueue<>();
    private final BlockingQueue<Integer> answers = new LinkedBlockingQueue<>();
    private final CountDownLatch open = new CountDownLatch(1);
    private HttpServer server;

    @BeforeEach
    void listen() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", exchange -> {
            received.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            Integer status = answers.poll();
            exchange.sendResponseHeaders(status == null ? 204 : status, -1);
            exchange.close();
        });
        server.createContext("/never", exchange -> {
            received.add("asked");
            awaitOpen();
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        open.countDown();
        server.stop(0);
    }

    @Test
    void anAlertIsOneObject() throws InterruptedException {
        try (Webhook webhook = webhook("/", AlertPayload.ZERNEL, 0)) {
            webhook.accept(alert(Alert.State.FIRING));
            assertThat(json()).isEqualTo(new JsonMapper().readTree("""
                    {"alert":"full","state":"firing","severity":"critical","metric":"zernel_gpu_memory_used_ratio",
                     "labels":{"gpu_id":"0"},"value":0.97,"comparison":">","threshold":0.95,"for_seconds":5.0,
                     "since":"2023-11-14T22:13:20Z","at":"2023-11-14T22:13:25Z","summary":"A device is almost full."}
                    """));
        }
    }

    @Test
    void alertmanagersReceiversAreSentWhatTheyKnow() throws InterruptedException {
        try (Webhook webhook = webhook("/", AlertPayload.ALERTMANAGER, 0)) {
            webhook.accept(alert(Alert.State.FIRING));
            webhook.accept(alert(Alert.State.RESOLVED));
            JsonNode firing = json();
            JsonNode resolved = json();
            assertThat(firing.path("version").asString()).isEqualTo("4");
            assertThat(firing.path("status").asString()).isEqualTo("firing");
            assertThat(firing.path("alerts").path(0).path("labels")).isEqualTo(new JsonMapper().readTree("""
                    {"alertname":"full","severity":"critical","gpu_id":"0"}"""));
            assertThat(firing.path("alerts").path(0).path("endsAt").asString()).isEqualTo("0001-01-01T00:00:00Z");
            assertThat(resolved.path("status").asString()).isEqualTo("resolved");
            assertThat(resolved.path("alerts").path(0).path("endsAt").asString()).isEqualTo("2023-11-14T22:13:25Z");
            assertThat(resolved.path("alerts").path(0).path("fingerprint"))
                    .isEqualTo(firing.path("alerts").path(0).path("fingerprint"));
        }
    }

    @Test
    void labelsOfTheUserAreAmongAnAlertsInAlertmanagersPayload() throws InterruptedException {
        try (Webhook webhook = webhook("/", AlertPayload.ALERTMANAGER, 0)) {
            webhook.accept(alert(Alert.State.FIRING).with(CommonLabels.parse(List.of("cluster=a"))));
            assertThat(json().path("commonLabels")).isEqualTo(new JsonMapper().readTree("""
                    {"alertname":"full","severity":"critical","gpu_id":"0","cluster":"a"}"""));
        }
    }

    @Test
    void whatIsRefusedIsSentAgain() throws InterruptedException {
        answers.add(503);
        answers.add(500);
        Webhook webhook = webhook("/", AlertPayload.ZERNEL, 5);
        webhook.accept(alert(Alert.State.FIRING));
        assertThat(json()).isEqualTo(json()).isEqualTo(json());
        webhook.close();
        assertThat(webhook.counts()).isEqualTo(new Webhook.Counts(1, 0, 0));
    }

    @Test
    void afterItsRetriesAnAlertIsGivenUpAndTheNextHasItsTurn() throws InterruptedException {
        answers.add(500);
        answers.add(500);
        Webhook webhook = webhook("/", AlertPayload.ZERNEL, 1);
        webhook.accept(alert(Alert.State.FIRING));
        webhook.accept(alert(Alert.State.RESOLVED));
        json();
        json();
        assertThat(json().path("state").asString()).isEqualTo("resolved");
        webhook.close();
        assertThat(webhook.counts()).isEqualTo(new Webhook.Counts(1, 1, 0));
    }

    @Test
    void aReceiverThatNeverAnswersHoldsNobodyUp() throws InterruptedException {
        Webhook webhook = webhook("/never", AlertPayload.ZERNEL, 1_000_000);
        webhook.accept(alert(Alert.State.FIRING));
        assertThat(received.take()).isEqualTo("asked");
        for (int i = 0; i < 1500; i++) {
            webhook.accept(alert(Alert.State.FIRING));
        }
        assertThat(webhook.counts().dropped()).isEqualTo(500);
        assertThat(received.take()).as("asked again after the timeout").isEqualTo("asked");
        open.countDown();
        webhook.close();
    }

    private JsonNode json() throws InterruptedException {
        return new JsonMapper().readTree(received.take());
    }

    private Webhook webhook(String path, AlertPayload payload, int retries) {
        URI url = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + path);
        Duration timeout = path.equals("/never") ? Duration.ofMillis(500) : Duration.ofSeconds(30);
        return new Webhook(new Webhook.Options(url, payload, timeout, retries), Duration.ofMillis(10));
    }

    private static Alert alert(Alert.State state) {
        long since = 1_700_000_000_000_000_000L;
        return new Alert(RULE, Map.of("gpu_id", "0"), state, 0.97, since, since + 5_000_000_000L);
    }

    private void awaitOpen() {
        try {
            open.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }
}
