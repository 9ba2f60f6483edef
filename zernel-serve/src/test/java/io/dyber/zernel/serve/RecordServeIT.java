package io.dyber.zernel.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// `zernel-record --serve` from end to end: a process is recorded, and meanwhile scraped.
@Timeout(120)
final class RecordServeIT {
    private static final String READS = "zernel_events_total{kind=\"io\"}";
    private static final List<String> JAVA = List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "--enable-native-access=ALL-UNNAMED", "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow", "-cp", System.getProperty("java.class.path"));

    @TempDir
    private Path folder;

    @Test
    void aProcessIsScrapedWhileItIsRecorded() throws Exception {
        needsBpf();
        int port = Ports.free();
        Path output = folder.resolve("run.parquet");
        List<String> command = new ArrayList<>(JAVA);
        command.addAll(List.of("-Dzernel.home=" + home(), "io.dyber.zernel.record.cli.Record", "--serve", "--quiet", "-o", output.toString(),
                "--", "sh", "-c", "until [ -e '%s' ]; do head -c 4096 /dev/zero > /dev/null; sleep 0.05; done".formatted(
                        folder.resolve("enough"))));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(
                Map.of("ZERNEL_METRICS_PORT", "" + port, "ZERNEL_WS_PORT", "" + Ports.free()));
        Process recorder = builder.redirectErrorStream(true)
                .redirectOutput(folder.resolve("record.log").toFile())
                .start();
        try {
            double first = readsAbove(0, port, recorder);
            double second = readsAbove(first, port, recorder);
            Files.createFile(folder.resolve("enough"));
            assertThat(recorder.waitFor()).as(this::log).isZero();
            assertThat(Files.size(output)).isPositive();
            assertThat(second).isGreaterThan(first);
        } finally {
            recorder.destroy();
            recorder.waitFor();
        }
    }

    /// Scrapes until more reads are counted.
    private double readsAbove(double least, int port, Process recorder) throws InterruptedException {
        double reads = least;
        while (reads <= least) {
            assertThat(recorder.isAlive()).as(this::log).isTrue();
            Thread.sleep(200);
            reads = scraped(port);
        }
        return reads;
    }

    private static double scraped(int port) throws InterruptedException {
        try (HttpClient http = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/metrics")).build();
            String text = http.send(request, HttpResponse.BodyHandlers.ofString()).body();
            return PrometheusText.parse(text).values().getOrDefault(READS, 0.0);
        } catch (IOException _) {
            return 0; // it does not listen yet
        }
    }

    /// A folder as an installed Zernel has it.
    private Path home() throws IOException {
        Path bin = Files.createDirectories(folder.resolve("home/bin"));
        Path zernel = Files.writeString(bin.resolve("zernel"), "#!/bin/sh\nexec '%s' io.dyber.zernel.serve.cli.Zernel \"$@\"\n"
                .formatted(String.join("' '", JAVA)));
        Files.setPosixFilePermissions(zernel, PosixFilePermissions.fromString("rwxr-xr-x"));
        return folder.resolve("home");
    }

    private String log() {
        try {
            return Files.readString(folder.resolve("record.log"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    private static void needsBpf() throws IOException {
        boolean root = Files.readString(Path.of("/proc/self/status")).contains("Uid:\t0\t");
        if (root && Files.isReadable(Path.of("/sys/kernel/btf/vmlinux"))) {
            return;
        }
        String need = "needs root and a kernel with BTF";
        System.out.println("skipped: " + need);
        assertThat(System.getenv("ZERNEL_REQUIRE_BPF")).as(need).isNotEqualTo("1");
        Assumptions.abort(need);
    }
}
