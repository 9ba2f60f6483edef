package io.dyber.zernel.serve.metric;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class MetricsTest {
    static final Path PAGE = Path.of("../docs/metrics.md");
    private static final String BEGIN = "<!-- written by MetricsTest -Dgolden.update -->\n";
    private static final String END = "<!-- end -->";

    @Test
    void zerneldsFamiliesAreAllThere() {
        Map<String, List<String>> labels = new TreeMap<>();
        Metrics.GROUPS.getFirst().metrics().forEach(metric -> labels.put(metric.name(), metric.labels()));
        assertThat(labels).isEqualTo(Map.of(
                "zernel_gpu_memory_used_bytes", List.of("pid", "gpu_id"),
                "zernel_gpu_memory_peak_bytes", List.of("pid", "gpu_id"),
                "zernel_cuda_launch_latency_seconds", List.of("pid"),
                "zernel_nccl_collective_duration_seconds", List.of("op", "pid"),
                "zernel_dataloader_wait_seconds", List.of("pid"),
                "zernel_dist_sync_wait_seconds", List.of("pid")));
    }

    @Test
    void everyMetricKeepsTheRules() throws IOException {
        if (!Boolean.getBoolean("golden.update")) {
            assertThat(MetricRules.shipped(Files.readString(PAGE)).breaches()).isEmpty();
        }
    }

    @Test
    void theDocumentedMetricsAreTheListed() throws IOException {
        String page = Files.readString(PAGE);
        String reference = MetricsReference.markdown(MetricsReference.groups(), Metrics.LABELS);
        int from = page.indexOf(BEGIN) + BEGIN.length();
        int to = page.indexOf(END);
        if (Boolean.getBoolean("golden.update")) {
            Files.writeString(PAGE, page.substring(0, from) + reference + page.substring(to));
        } else {
            assertThat(page.substring(from, to)).isEqualTo(reference);
        }
    }
}
