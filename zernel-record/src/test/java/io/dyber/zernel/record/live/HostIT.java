package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The host in a recording of real processes.
class HostIT {
    /// Takes 64 MB, then 128 MB more, each for some time.
    private static final String GROWING = """
            import time
            print(__import__('os').getpid(), flush=True)
            kept = bytearray(b'x') * 64_000_000
            time.sleep(1)
            kept = [kept, bytearray(b'x') * 128_000_000]
            end = time.process_time() + 1
            while time.process_time() < end: pass
            """;

    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
    }

    private Path file() {
        return directory.resolve("run.parquet");
    }

    @Test
    void aProcessThatTakesMemoryIsSeenToGrow() {
        Running.Outcome outcome = Recorder.recordTo(
                        file(), "-q", "--host-interval", "100ms", "--", "python3", "-c", GROWING)
                .runWell();
        String pid = outcome.out().getFirst();
        try (Recording recording = Recording.open(file())) {
            String values = "FROM events WHERE kind = 'host_sample' AND pid = " + pid + " AND name = ";
            assertThat(recording.number("SELECT max(value) " + values + "'rss'")).isBetween(192_000_000L, 400_000_000L);
            // A process that ends gives its memory back before it is gone: what follows the largest value says nothing.
            String largest = "(SELECT arg_max(ts_ns, value) " + values + "'rss')";
            assertThat(recording.number("SELECT max(value) - min(value) " + values + "'rss' AND ts_ns <= " + largest))
                    .isGreaterThan(100_000_000);
            assertThat(recording.number("SELECT max(value) " + values + "'pss'")).isPositive();
            assertThat(recording.number("SELECT max(value) " + values + "'cpu'")).isGreaterThan(300_000_000);
            assertThat(recording.rows("SELECT unit, comm, tid, dur_ns " + values + "'rss' ORDER BY ts_ns DESC LIMIT 1"))
                    .containsExactly("bytes python3 null null");
            assertThat(recording.number("SELECT max(value) " + values + "'cpus_allowed'"))
                    .isEqualTo(Runtime.getRuntime().availableProcessors());
            assertThat(recording.footer("zernel.host").path("rounds").asLong()).isPositive();
        }
    }

    @Test
    void theMachineIsSampledFromTheFilesThatItHas() throws IOException {
        Path root = directory.resolve("root");
        Files.createDirectories(root.resolve("proc"));
        Files.writeString(root.resolve("proc/stat"), "cpu  1 0 0 5 0 0 0 0 0 0\ncpu0 1 0 0 5 0 0 0 0 0 0\n");
        Recorder.recordTo(file(), "-q", "--", "sleep", "0.2")
                .property("zernel.host.root", root.toString())
                .runWell();
        try (Recording recording = Recording.open(file())) {
            assertThat(recording.rows("SELECT DISTINCT name, value, pid FROM events WHERE kind = 'host_sample' ORDER BY name"))
                    .containsExactly(
                            "cpu_busy 10000000 null",
                            "cpu_idle 50000000 null",
                            "cpu_iowait 0 null",
                            "cpu_steal 0 null",
                            "cpus 1 null");
        }
    }

    @Test
    void theHostIsNotSampledWhereThatIsOffOrNotAskedFor() {
        for (List<String> off : List.of(List.of("--host-interval", "off"), List.of("--kinds", "process"))) {
            Recorder.recordTo(file(), "-q")
                    .with(off.toArray(String[]::new))
                    .with("--", "sleep", "0.1")
                    .runWell();
            try (Recording recording = Recording.open(file())) {
                assertThat(recording.number("SELECT count(*) FROM events WHERE kind = 'host_sample'")).isZero();
                assertThat(recording.footer("zernel.kinds").valueStream()
                                .filter(kind -> kind.path("kind").asString().equals("host_sample"))
                                .map(kind -> kind.path("state").asString() + ", " + kind.path("why").asString()))
                        .containsExactly("off, " + (off.contains("off") ? "--host-interval off" : "left out by --kinds"));
            }
        }
    }
}
