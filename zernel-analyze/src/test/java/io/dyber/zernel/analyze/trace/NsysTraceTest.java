package io.dyber.zernel.analyze.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dyber.zernel.analyze.Damage;
import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Profiles of Nsight Systems as SQLite; those that others published are in `-Dzernel.traces=FOLDER`.
class NsysTraceTest {
    private static final Path TRACES = Path.of(System.getProperty("zernel.traces", "../../shared/traces"), "nsys");

    @TempDir
    Path folder;

    /// Two processes with a GPU each and four steps of 10 ms.
    private static Path profile() {
        try {
            return Path.of(Objects.requireNonNull(NsysTraceTest.class.getResource("/traces/nsys.sqlite")).toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void stepsAreRangesAndGpusBelongToTheirProcesses() {
        try (Database database = Recordings.open(profile().toString())) {
            assertThat(database.query("SELECT pid, count(*) AS n, min(dur_ns) // 1000 AS us, any_value(source) AS source FROM steps "
                            + "GROUP BY pid ORDER BY pid")
                    .toString())
                    .isEqualTo("pid\tn\tus\tsource\n148\t4\t9900\trole of step\n149\t4\t9900\trole of step");
            assertThat(database.query("SELECT pid, device, busy_ns // 1000 AS us FROM gpu_time").toString())
                    .isEqualTo("pid\tdevice\tus\n148\t0\t16000\n149\t1\t20000");
            assertThat(database.query("SELECT kind, name, copy_kind, host_memory FROM events WHERE pid = 148 AND "
                            + "(kind LIKE 'cuda%' OR kind LIKE 'gpu%' OR kind = 'torch_op') GROUP BY ALL ORDER BY ALL")
                    .toString())
                    .isEqualTo("""
                    kind	name	copy_kind	host_memory
                    cuda_copy	cudaMemcpyAsync	DtoH	pageable
                    cuda_launch	cudaLaunchKernel	null	null
                    cuda_sync	cudaStreamSynchronize	null	null
                    gpu_kernel	void gemm<float>(int)	null	null
                    gpu_memcpy	Memcpy DtoH (Device -> Pageable)	DtoH	pageable
                    torch_op	aten::mm	null	null""");
        }
    }

    @Test
    void aProfileOfSeveralProcessesJoinsNoRecording() {
        Path run = RecordingFixture.recording().region("a", 1, 1).write(folder.resolve("run.parquet"));
        assertThatThrownBy(() -> Recordings.open(run.toString(), profile().toString()))
                .isInstanceOf(RecordingException.class)
                .hasMessage("opening '" + profile() + "': it is of 2 processes, and only traces of one join a recording");
    }

    @Test
    void anotherDatabaseIsNoProfile() throws IOException {
        byte[] whole = Files.readAllBytes(profile());
        String text = new String(whole, StandardCharsets.ISO_8859_1)
                .replace("CUPTI_ACTIVITY_KIND", "OTHER_ACTIVITY_KIND")
                .replace("NVTX_EVENTS", "OTHER_EVENT");
        Path other = Files.write(folder.resolve("other.sqlite"), text.getBytes(StandardCharsets.ISO_8859_1));
        assertThatThrownBy(() -> Recordings.open(other.toString()))
                .isInstanceOf(RecordingException.class)
                .hasMessageStartingWith("opening '" + other + "': no profile of Nsight Systems");
    }

    @Test
    void damagedProfilesAreReadOrGiveOneLine() throws IOException {
        byte[] whole = Files.readAllBytes(profile());
        List<TracedEvent> events = new ArrayList<>();
        for (long seed = 0; seed < 300; seed++) {
            Path file = Files.write(folder.resolve("damaged.sqlite"), Damage.of(whole, new SplittableRandom(seed)));
            try {
                TraceHeader header = NsysTrace.read(file, events::add);
                assertThat(header.events()).as("seed " + seed).isNotNegative();
            } catch (RecordingException e) {
                assertThat(e).as("seed " + seed).hasMessageStartingWith("opening '").hasMessageNotContaining("\n");
            }
        }
        assertThat(events).isNotEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"h100_2gpu_1s", "healthy_1pct", "mfu_2gpu_after", "mfu_2gpu_before"})
    void sumsAreThoseOfItsTables(String name) {
        Path file = TRACES.resolve(name + ".sqlite");
        assumeTrue(Files.exists(file), "no public profiles in " + TRACES);
        try (Database database = Recordings.open(file.toString());
                SqliteFile tables = SqliteFile.open(file)) {
            for (List<String> pair : List.of(
                    List.of("gpu_kernel", "CUPTI_ACTIVITY_KIND_KERNEL"),
                    List.of("gpu_memcpy", "CUPTI_ACTIVITY_KIND_MEMCPY"),
                    List.of("gpu_memset", "CUPTI_ACTIVITY_KIND_MEMSET"))) {
                if (!tables.columns(pair.getLast()).isEmpty()) {
                    assertThat(tables.read("SELECT count(*), sum(\"end\" - start) FROM " + pair.getLast(), row -> assertThat(
                                    database.query("SELECT count(*) AS n, sum(dur_ns) AS ns FROM events WHERE kind = ?", pair.getFirst())
                                            .toString())
                                    .isEqualTo("n\tns\n" + row.integer(0) + "\t" + row.integer(1))))
                            .isNull();
                }
            }
        }
    }

    @Test
    void nothingIsFoundInAHealthyProfile() {
        Path file = TRACES.resolve("healthy_1pct.sqlite");
        assumeTrue(Files.exists(file), "no public profiles in " + TRACES);
        try (Database database = Recordings.open(file.toString())) {
            assertThat(database.diagnose().findings()).isEmpty();
        }
    }
}
