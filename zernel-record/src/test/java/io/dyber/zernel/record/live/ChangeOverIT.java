package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.process.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Four threads call the CUDA runtime all the time, which loads its driver at the first call from where nobody would look.
/// So first the runtime's calls are recorded and then the driver's.
@Tag("alone")
class ChangeOverIT {
    private static final String KINDS = "cuda_launch,cuda_copy,cuda_sync,gpu_alloc,gpu_free";

    /// Both are in the order in which they began.
    private static final String OPERATIONS = """
            CREATE TABLE operations AS
            SELECT t, e
            FROM (
                SELECT t, t.tid, t.kind, row_number() OVER (PARTITION BY t.tid, t.kind ORDER BY t.n) AS i
                FROM truth t WHERE starts_with(t.name, 'cuda') AND t.kind <> 'none')
            FULL JOIN (
                SELECT e, e.tid, e.kind, row_number() OVER (PARTITION BY e.tid, e.kind ORDER BY e.ts_ns) AS i
                FROM events e WHERE e.kind LIKE 'cuda%' OR e.kind LIKE 'gpu%')
            USING (tid, kind, i)
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

    private Recording recording() {
        Recording recording = Recording.open(file());
        recording.define("CREATE TABLE truth AS FROM read_csv('" + directory
                + "/truth/*.csv', types = {'kernel': 'VARCHAR', 'host_memory': 'VARCHAR', 'dtype': 'VARCHAR',"
                + " 'op': 'VARCHAR', 'copy_kind': 'VARCHAR'}, sample_size = -1)");
        return recording;
    }

    @Test
    void noCallIsLostOrDoubledWhenTheDriverComes() throws IOException {
        Files.createDirectory(directory.resolve("truth"));
        Path driver = Files.copy(
                Programs.standIns().resolve("libcuda.so.580.159.04"), directory.resolve("driver-" + System.nanoTime()));
        Running.Outcome outcome;
        try (Running running = Recorder.recordTo(file(), "--detail", "all", "--kinds", KINDS)
                .property(Machine.BARE_METAL, "true")
                .environment("STANDIN_TRUTH", directory.resolve("truth").toString())
                .environment("STANDIN_DRIVER", driver.toString())
                .with("--", Programs.standIns().resolve("alone/changeover").toString(), "4", "8000")
                .start()) {
            running.awaitLine("waiting ");
            running.awaitLine(" of " + Programs.standIns().resolve("alone/libcudart.so.13.0.88"));
            running.say("go");
            outcome = running.await();
        }
        assertThat(outcome.status()).as(outcome.toString()).isZero();
        try (Recording recording = recording()) {
            recording.define(OPERATIONS);
            // What is called in the driver itself would be missing.
            assertThat(recording.footer("zernel.recording").path("incomplete_because").valueStream().map(JsonNode::asString))
                    .singleElement()
                    .asString()
                    .startsWith("calls into " + driver + " were not seen for ");
            assertThat(recording.rows("""
                    SELECT coalesce(t.kind, e.kind), t IS NULL, e IS NULL, count(*) FROM operations
                    WHERE t IS NULL OR e IS NULL GROUP BY ALL
                    """)).isEmpty();
            assertThat(recording.number("SELECT count(*) FROM operations")).isGreaterThan(10_000);
            assertThat(recording.rows("""
                    SELECT e.name, count(*) FROM operations
                    WHERE e.dur_ns IS NULL OR e.depth <> 0 OR e.stream IS DISTINCT FROM t.stream
                        OR e.bytes IS DISTINCT FROM t.bytes GROUP BY ALL
                    """)).isEmpty();
            assertThat(recording.rows("SELECT DISTINCT kind FROM events WHERE name LIKE 'cuda%' ORDER BY kind"))
                    .containsExactly("cuda_copy", "cuda_launch", "cuda_sync", "gpu_alloc", "gpu_free");
            assertThat(recording.rows("""
                    SELECT DISTINCT name FROM events WHERE kind <> 'process' AND ts_ns > (SELECT max(ts_ns) - 2000000000 FROM events)
                    ORDER BY name
                    """)).containsExactly(
                    "cuLaunchKernel", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemsetD8Async", "cuStreamSynchronize");
            assertThat(recording.rows("""
                    SELECT DISTINCT kernel FROM events
                    WHERE kind = 'cuda_launch' AND ts_ns > (SELECT max(ts_ns) - 2000000000 FROM events)
                    """)).containsExactly("scale(float*, float, int)");
            assertThat(recording.footer("zernel.probes").valueStream()
                            .filter(probe -> probe.path("symbol").asString().equals("cudaStreamSynchronize"))
                            .map(probe -> probe.path("layer").asString() + ", " + probe.path("state").asString() + ": "
                                    + probe.path("why").asString()))
                    .containsExactly("runtime, off: the driver's calls are recorded instead");
        }
    }

    @Test
    void kernelsOfAJobThatWasRunningGetTheirNamesFromTheRuntime() {
        String driver = "STANDIN_DRIVER=" + Programs.standIns().resolve("libcuda.so.580.159.04");
        String program = Programs.standIns().resolve("alone/changeover").toString();
        try (Running job = Running.start("env", driver, program, "4", "12000")) {
            job.awaitLine("waiting ");
            job.say("go");
            Running.Outcome outcome = Recorder.recordTo(file(), "--kinds", "cuda_launch", "-d", "5s", "-p", "" + job.pid())
                    .property(Machine.BARE_METAL, "true")
                    .runWell();
            assertThat(outcome.status()).isZero();
        }
        try (Recording recording = Recording.open(file())) {
            assertThat(recording.rows("""
                    SELECT DISTINCT name, kernel FROM events
                    WHERE kind = 'cuda_launch' AND ts_ns > (SELECT max(ts_ns) - 1000000000 FROM events)
                    """)).containsExactly("cuLaunchKernel scale(float*, float, int)");
            assertThat(recording.footer("zernel.kernels").valueStream()
                            .map(kernel -> kernel.path("kernel").asString()))
                    .containsExactly("scale(float*, float, int)");
        }
    }
}
