package io.dyber.zernel.analyze.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dyber.zernel.analyze.Damage;
import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.duckdb.DatabaseOptions;
import io.dyber.zernel.analyze.duckdb.DuckDb;
import io.dyber.zernel.format.RecordingException;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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
    void aFolderOfParquetFilesIsTheSameProfile() {
        try (SqliteFile tables = SqliteFile.open(profile())) {
            for (String table : List.of("StringIds", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",
                    "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS", "TARGET_INFO_SESSION_START_TIME")) {
                List<String> columns = List.copyOf(tables.columns(table));
                List<String> rows = new ArrayList<>();
                String texts = Set.of("StringIds", "NVTX_EVENTS").contains(table) ? "value text" : "";
                tables.read("SELECT \"" + String.join("\", \"", columns) + "\" FROM " + table, row -> rows.add(
                        IntStream.range(0, columns.size())
                                .mapToObj(i -> texts.contains(columns.get(i))
                                        ? row.text(i) == null ? "CAST(NULL AS VARCHAR)" : DuckDb.literal(String.valueOf(row.text(i)))
                                        : "CAST(" + row.integer(i) + " AS BIGINT)")
                                .collect(Collectors.joining(", ", "(", ")"))));
                parquet(table, "FROM (VALUES " + String.join(", ", rows) + ") AS t (\"" + String.join("\", \"", columns) + "\")");
            }
        }
        String sql = "SELECT COLUMNS(* EXCLUDE (recording)) FROM events ORDER BY ALL";
        try (Database whole = Recordings.open(profile().toString()); Database exported = Recordings.open(folder.toString())) {
            assertThat(exported.query(sql).toString()).isEqualTo(whole.query(sql).toString()).contains("gemm<float>");
        }
    }

    @Test
    void aGraphThatWasTracedAsOneIsWork() {
        parquet("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "SELECT 1000 AS start, 6000 AS \"end\", 1 AS deviceId, 7 AS streamId, "
                + "3 AS correlationId, CAST(2483027968 AS UBIGINT) AS globalPid, 109 AS graphId");
        parquet("CUPTI_ACTIVITY_KIND_RUNTIME", "SELECT 100 AS start, 200 AS \"end\", 2483028117 AS globalTid, "
                + "3 AS correlationId, 8 AS nameId");
        parquet("StringIds", "SELECT 8 AS id, 'cudaGraphLaunch_v10000' AS value");
        try (Database database = Recordings.open(folder.toString())) {
            assertThat(database.query("SELECT pid, device, work, name, dur_ns, launch_ns FROM gpu_activity").toString())
                    .isEqualTo("pid\tdevice\twork\tname\tdur_ns\tlaunch_ns\n148\t1\tcompute\tCUDA graph 109\t5000\t100");
            assertThat(database.query("SELECT kind, tid FROM events WHERE tid IS NOT NULL").toString())
                    .isEqualTo("kind\ttid\ncuda_graph\t149");
        }
    }

    @Test
    void aDamagedFileOfAFolderIsNamed() throws IOException {
        Path file = Files.writeString(folder.resolve("NVTX_EVENTS.parquet"), "PAR1 and no more");
        assertThatThrownBy(() -> Recordings.open(folder.toString()))
                .isInstanceOf(RecordingException.class)
                .hasMessageStartingWith("opening '" + file + "': damaged: ")
                .hasMessageNotContaining("\n");
    }

    /// Writes a table of a profile in a folder.
    private void parquet(String table, String sql) {
        try (DuckDb duckDb = DuckDb.open(DatabaseOptions.defaults())) {
            duckDb.write("COPY (" + sql + ") TO " + DuckDb.pathLiteral(folder.resolve(table + ".parquet")));
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
    void aProfileThatWasCutOffGivesWhatItHasAndSaysSo() throws IOException {
        byte[] whole = Files.readAllBytes(profile());
        Path file = Files.write(folder.resolve("cut.sqlite"), Arrays.copyOf(whole, 8300));
        try (Database database = Recordings.open(file.toString())) {
            assertThat(database.query("SELECT count(*) AS n FROM events WHERE kind = 'gpu_kernel'").only().integer("n")).isEqualTo(8);
            assertThat(database.recordings().getFirst().incompleteBecause()).hasSize(1).first().asString()
                    .startsWith("damaged after ").endsWith(" events: cut off, 8300 of 9216 bytes are there");
        }
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
            try (SqliteFile tables = SqliteFile.open(file)) {
                TraceHeader header = NsysTrace.read(tables, events::add);
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
