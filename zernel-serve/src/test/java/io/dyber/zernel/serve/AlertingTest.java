package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.dyber.zernel.serve.alert.Alert;
import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.analysis.Inferences;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.metric.CommonLabels;
import io.dyber.zernel.serve.source.LongColumn;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@Timeout(60)
final class AlertingTest {
    @TempDir
    private Path folder;

    private final BlockingQueue<String> received = new LinkedBlockingQueue<>();

    @Test
    void aWebhookIsToldWhoItIsByRankAndTheUsersLabels() throws Exception {
        HttpServer receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        receiver.createContext("/", exchange -> {
            received.add(new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        receiver.start();
        Path rules = Files.writeString(folder.resolve("rules.yaml"), """
                webhook: {url: "http://127.0.0.1:%d/"}
                rules:
                  - {name: reads, metric: zernel_io_bytes_total, comparison: ">", threshold: 10, action: [log, webhook]}
                """.formatted(receiver.getAddress().getPort()));
        List<Alert> log = new ArrayList<>();
        CommonLabels labels = CommonLabels.parse(List.of("cluster=a", "team=vision"));
        try (Alerting alerting = new Alerting(AlertRules.read(rules), log::add, labels)) {
            LiveMetrics live = new LiveMetrics(3, new Inferences(true), alerting);
            live.facts(EveryKind::facts);
            live.apply(new Events().add("io", "read", 3, EveryKind.START, 1).with(LongColumn.BYTES, 1000).batch());
            live.moveTo(EveryKind.START + 3_000_000_000L);
            JsonNode told = new JsonMapper().readTree(received.take()).path("labels");
            assertThat(told).isEqualTo(new JsonMapper().readTree("""
                    {"pid": "3", "rank": "1", "cluster": "a", "team": "vision"}"""));
        } finally {
            receiver.stop(0);
        }
        assertThat(log).singleElement().satisfies(
                alert -> assertThat(alert.labels()).containsOnlyKeys("pid", "rank"));
    }
}
