package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.dyber.zernel.serve.source.LongColumn;
import io.dyber.zernel.serve.source.TextColumn;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class ExpositionTest {
    private static final Path GOLDEN = Path.of("src/test/resources/io/dyber/zernel/serve/exposition.txt");
    private static final String NEXT = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
    private static final long MS = 1_000_000;
    private static final long START = 1_700_000_000_000L * MS;

    private final LiveMetrics live = new LiveMetrics(2);

    @Test
    void theExpositionIsTheGoldenOne() throws IOException {
        live.apply(everyKind().batch());
        String actual = PrometheusText.parse(text("text/plain")).canonical();
        if (Boolean.getBoolean("golden.update")) {
            Files.createDirectories(GOLDEN.getParent());
            Files.writeString(GOLDEN, actual);
        }
        assertThat(actual).isEqualTo(Files.readString(GOLDEN));
    }

    @Test
    void everyFamilyHasHelpAndTheTypeOfTheList() {
        live.apply(everyKind().batch());
        PrometheusText text = PrometheusText.parse(text("text/plain"));
        for (Metric metric : Metrics.ALL) {
            assertThat(text.types()).containsEntry(metric.name(), metric.type().name().toLowerCase(Locale.ROOT));
            assertThat(text.helps()).containsEntry(metric.name(), metric.help());
        }
    }

    @Test
    void zerneldsFamiliesHaveItsNamesAndLabels() {
        live.apply(everyKind().batch());
        assertThat(PrometheusText.parse(text("text/plain")).values())
                .containsEntry("zernel_gpu_memory_used_bytes{gpu_id=\"1\",pid=\"1\"}", 3000.0)
                .containsEntry("zernel_gpu_memory_peak_bytes{gpu_id=\"1\",pid=\"1\"}", 5000.0)
                .containsKey("zernel_cuda_launch_latency_seconds{pid=\"1\",quantile=\"0.5\"}")
                .containsKey("zernel_cuda_launch_latency_seconds{pid=\"1\",quantile=\"0.99\"}")
                .containsEntry("zernel_cuda_launch_latency_seconds_count{pid=\"1\"}", 2.0)
                .containsKey("zernel_cuda_launch_latency_seconds_sum{pid=\"1\"}")
                .containsKey("zernel_nccl_collective_duration_seconds{op=\"all_reduce\",pid=\"1\",quantile=\"0.99\"}")
                .containsKey("zernel_dataloader_wait_seconds{pid=\"1\",quantile=\"0.5\"}")
                .containsKey("zernel_dist_sync_wait_seconds{pid=\"2\",quantile=\"0.99\"}");
    }

    @Test
    void openMetricsEndsWithItsMark() {
        live.apply(everyKind().batch());
        assertThat(text("application/openmetrics-text; version=1.0.0")).endsWith("# EOF\n");
    }

    @Test
    void labelsWithAnyCharactersAreEscaped() {
        live.apply(new Events().add("call", "operator\"\\\n<", 1, START, MS).batch());
        assertThat(text("text/plain")).contains("name=\"operator\\\"\\\\\\n<\"");
    }

    @Test
    void processesBeyondTheLimitShareOneSeries() {
        for (long pid = 1; pid <= 1000; pid++) {
            live.apply(new Events().add("io", "read", pid, START, MS).with(LongColumn.BYTES, 10).batch());
        }
        PrometheusText text = PrometheusText.parse(text("text/plain"));
        assertThat(text.values())
                .containsEntry("zernel_io_bytes_total{pid=\"1\"}", 10.0)
                .containsEntry("zernel_io_bytes_total{pid=\"2\"}", 10.0)
                .containsEntry("zernel_io_bytes_total{pid=\"other\"}", 9980.0)
                .containsEntry("zernel_io_seconds_count{pid=\"other\"}", 998.0)
                .doesNotContainKey("zernel_io_bytes_total{pid=\"3\"}");
    }

    @Test
    void aBusyLateProcessTakesTheSeriesOfAQuietOne() {
        live.apply(new Events().add("io", "read", 1, START, MS).add("io", "read", 2, START, MS).batch());
        for (int i = 0; i < 100; i++) {
            live.apply(new Events().add("io", "read", 3, START, MS).add("io", "read", 2, START, MS).batch());
        }
        PrometheusText text = PrometheusText.parse(text("text/plain"));
        double third = text.values().getOrDefault("zernel_io_seconds_count{pid=\"3\"}", 0.0);
        double other = text.values().getOrDefault("zernel_io_seconds_count{pid=\"other\"}", 0.0);
        assertThat(text.values()).containsEntry("zernel_io_seconds_count{pid=\"2\"}", 101.0);
        assertThat(third).isGreaterThan(90);
        assertThat(third + other).isEqualTo(101);
    }

    @Test
    void promtoolAcceptsIt() throws Exception {
        Optional<Path> promtool = onPath("promtool");
        assumeThat(promtool).as("promtool, which is not installed").isPresent();
        live.apply(everyKind().batch());
        Process process = new ProcessBuilder(promtool.orElseThrow().toString(), "check", "metrics")
                .redirectErrorStream(true)
                .start();
        try (OutputStream in = process.getOutputStream()) {
            in.write(text("text/plain").getBytes(StandardCharsets.UTF_8));
        }
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(said).isEmpty();
        assertThat(process.exitValue()).isZero();
    }

    private static Events everyKind() {
        return new Events()
                .add("region", NEXT, 1, START, 30 * MS)
                .add("cuda_launch", "cuLaunchKernel", 1, START + 31 * MS, 10_000)
                .add("cuda_launch", "cuLaunchKernel", 1, START + 32 * MS, 20_000)
                .add("cuda_sync", "cudaStreamSynchronize", 1, START + 33 * MS, MS)
                .add("cuda_copy", "cudaMemcpyAsync", 1, START + 35 * MS, MS)
                .with(LongColumn.BYTES, 4096)
                .with(TextColumn.COPY_KIND, "h2d")
                .add("backward", "Engine::execute", 1, START + 40 * MS, 40 * MS)
                .add("nccl", "ncclAllReduce", 1, START + 80 * MS, 5 * MS)
                .with(LongColumn.BYTES, 1_000_000)
                .add("region", "Optimizer.step#AdamW.step", 1, START + 90 * MS, 10 * MS)
                .add("region", NEXT, 1, START + 100 * MS, 30 * MS)
                .add("gpu_alloc", "cuMemAlloc_v2", 1, START, 1000)
                .with(LongColumn.BYTES, 3000)
                .with(LongColumn.ADDR, 1)
                .with(LongColumn.DEVICE, 1)
                .add("gpu_alloc", "cuMemAlloc_v2", 1, START, 1000)
                .with(LongColumn.BYTES, 2000)
                .with(LongColumn.ADDR, 2)
                .with(LongColumn.DEVICE, 1)
                .add("gpu_free", "cuMemFree_v2", 1, START + MS, 1000)
                .with(LongColumn.ADDR, 2)
                .add("torch_alloc", "malloc", 1, START, 0)
                .with(LongColumn.BYTES, 500)
                .with(LongColumn.ADDR, 3)
                .add("gpu_sample", "power", 1, START, 0)
                .with(LongColumn.VALUE, 250)
                .with(LongColumn.DEVICE, 1)
                .with(TextColumn.UNIT, "watts")
                .add("io", "read", 2, START, 200_000)
                .with(LongColumn.BYTES, 1000)
                .add("wait", "futex", 2, START, 5 * MS)
                .add("call", "compress2", 2, START, 2 * MS)
                .add("lost", "io", 0, START, 0)
                .with(LongColumn.COUNT, 17);
    }

    private String text(String accept) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        live.read(START + 1000 * MS, false, view -> {
            try {
                ExpositionFormats.init().findWriter(accept).write(bytes, Exposition.of(view));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private static Optional<Path> onPath(String program) {
        return Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .map(folder -> Path.of(folder, program))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
