package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What the recorder may do while it records, and what the command it starts may do.
class RightsIT {
    /// chown, dac_override, dac_read_search, fowner, kill, sys_ptrace, sys_nice, sys_resource, perfmon, bpf and
    /// checkpoint_restore.
    private static final long RECORDING = 0x1c0_0188_002fL;

    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
    }

    @Test
    void threadsThatHandleEventsHaveOnlyTheRightsOfRecording() throws IOException {
        Path file = directory.resolve("run.parquet");
        try (Running recorder = Recorder.recordTo(file, "-d", "60s").startRecording()) {
            Map<String, Long> rights = new HashMap<>();
            try (Stream<Path> threads = Files.list(Path.of("/proc/" + recorder.pid() + "/task"))) {
                for (Path thread : threads.toList()) {
                    String name = Files.readString(thread.resolve("comm")).strip();
                    rights.put(name, Long.parseLong(value(thread.resolve("status"), "CapEff:"), 16));
                }
            }
            assertThat(rights.getOrDefault("zernel-drain", 0L)).isNotZero();
            assertThat(rights.getOrDefault("zernel-drain", 0L) & ~RECORDING).isZero();
            recorder.signal("TERM");
            assertThat(recorder.await().status()).isZero();
        }
    }

    @Test
    void theCommandHasTheRightsItWouldHaveHad() throws IOException {
        Path file = directory.resolve("run.parquet");
        Running.Outcome outcome = Recorder.recordTo(file, "--", "grep", "Cap", "/proc/self/status").runWell();
        List<String> own = Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("Cap"))
                .toList();
        assertThat(outcome.out()).isEqualTo(own);
    }

    private static String value(Path status, String field) throws IOException {
        return Files.readAllLines(status).stream()
                .filter(line -> line.startsWith(field))
                .map(line -> line.split("\\s+")[1])
                .findFirst()
                .orElseThrow();
    }
}
