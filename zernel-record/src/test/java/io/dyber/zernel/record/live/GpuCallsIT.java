package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.event.Layer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/// Six processes of four threads each call every function that is probed of CUDA, NCCL and PyTorch's allocator, once
/// per way of probing: with the runtime of CUDA 12, that of CUDA 13, and one linked statically; and two more with a driver
/// that nobody knows as one. Each call is one row, however many functions of the runtime and the driver it goes through, and
/// the row says what the program itself wrote down.
///
/// Perf events take a tenth of a second each to detach, one after the other, so the run with them is of one program
/// and fewer kinds.
@ParameterizedClass
@CsvSource({
    "session, " + GpuCallsIT.ALL_KINDS + ", job-13 job-12 job-static, DRIVER",
    "multi, " + GpuCallsIT.ALL_KINDS + ", job-13 job-12 job-static, DRIVER",
    "perf, cuda_launch torch_alloc torch_free nccl nccl_comm, job-13, DRIVER",
    "session, cuda_launch cuda_graph cuda_copy cuda_sync gpu_alloc gpu_free, alone/job-hidden, RUNTIME"
})
class GpuCallsIT {
    static final String ALL_KINDS = "cuda_launch cuda_graph cuda_copy cuda_sync gpu_alloc gpu_free gpu_map "
            + "torch_alloc torch_free nccl nccl_comm";

    /// Compared otherwise: numbers that differ by design, and names that may come after the call.
    /// A launch of the driver of which the end is not recorded.
    private static final String SAMPLED_LAUNCH = "(e.kind = 'cuda_launch' AND e.dur_ns IS NULL AND e.name LIKE 'cuL%')";
    private static final List<String> NOT_COMPARED =
            List.of("pid", "tid", "ts_ns", "dur_ns", "cpu", "comm", "comm_id", "kernel", "stack");

    private static Recording recording = Recording.none();
    private static List<String> symbols = List.of();

    /// What the driver has no part in: these are rows while the runtime is probed, and else not.
    private static final String OF_THE_RUNTIME_ALONE =
            "(starts_with(name, 'cuda') AND (copy_kind = 'HtoH' OR (name = 'cudaFree' AND addr = 0)))";

    private final String backend;
    private final List<String> kinds;
    private final int programs;
    private final Layer layer;

    GpuCallsIT(String backend, String kinds, String programs, Layer layer) {
        this.backend = backend;
        this.kinds = List.of(kinds.split(" "));
        this.programs = programs.split(" ").length;
        this.layer = layer;
    }

    @BeforeParameterizedClassInvocation
    static void record(String backend, String kinds, String names, Layer layer, @TempDir Path directory) {
        Needs.bpf();
        List<String> programs = List.of(names.split(" "));
        List<String> files = new ArrayList<>();
        if (layer == Layer.DRIVER) {
            files.addAll(List.of("libcuda.so.1", "libcudart.so.13", "libnccl.so.2", "libc10_cuda.so"));
        } else {
            files.add("alone/job-hidden");
        }
        if (programs.size() > 1) {
            files.addAll(List.of("libcudart.so.12", "job-static"));
        }
        symbols = StandIns.probedSymbols(List.of(kinds.split(" ")), layer);
        List<String> arguments = new ArrayList<>(List.of("all", "4", programs.size() > 1 ? "12" : "36", "7"));
        arguments.addAll(programs.subList(1, programs.size()));
        Recorder recorder = Recorder.recordTo(directory.resolve("run.parquet"))
                .with("--backend", backend, "--detail", "all", "--hold", "--kinds", kinds.replace(' ', ','));
        recording = StandIns.record(directory, recorder, symbols, files, programs.getFirst(), arguments)
                .recording();
        recording.define("""
                CREATE TABLE pairs AS
                SELECT t, e
                FROM (
                    SELECT t, t.pid, t.tid, row_number() OVER (PARTITION BY t.pid, t.tid ORDER BY t.n) AS i
                    FROM truth t WHERE t.probed = 1 AND t.kind <> 'none')
                FULL JOIN (
                    SELECT e, e.pid, e.tid, row_number() OVER (PARTITION BY e.pid, e.tid ORDER BY e.ts_ns) AS i
                    FROM events e WHERE e.kind IN ('%s') AND %s)
                USING (pid, tid, i)
                """.formatted(kinds.replace(" ", "','"), compared(layer)));
    }

    private static String compared(Layer layer) {
        return layer == Layer.DRIVER ? "NOT coalesce(" + OF_THE_RUNTIME_ALONE + ", false)" : "true";
    }

    @AfterParameterizedClassInvocation
    static void close() {
        recording.close();
    }

    @Test
    void everyProbedFunctionIsCalledOften() {
        List<String> seldom = new ArrayList<>(symbols);
        seldom.removeAll(recording.rows("SELECT name FROM truth GROUP BY name HAVING count(*) >= 100"));
        assertThat(seldom).isEmpty();
        assertThat(recording.footer("zernel.recording").path("backend").asString()).isEqualTo(backend);
        assertThat(recording.number("SELECT count(DISTINCT tid) FROM truth WHERE kind <> 'none'"))
                .isEqualTo(8L * programs);
    }

    @Test
    void everyCallIsCountedWhereItWasProbed() {
        recording.define("""
                CREATE OR REPLACE TABLE entries AS
                SELECT unnest(from_json(decode(value), '[{"symbol":"VARCHAR","entries":"BIGINT","lost":"BIGINT"}]'),
                    recursive := true)
                FROM parquet_kv_metadata('%s') WHERE decode(key) = 'zernel.probes'
                """.formatted(recording.file()));
        assertThat(recording.rows("""
                SELECT name, truth.calls, entries.calls
                FROM (SELECT name, count(*) AS calls FROM truth WHERE probed = 1 GROUP BY name) truth
                LEFT JOIN (SELECT symbol AS name, sum(entries) AS calls FROM entries GROUP BY symbol) entries USING (name)
                WHERE truth.calls IS DISTINCT FROM entries.calls ORDER BY name
                """)).isEmpty();
        assertThat(recording.footer("zernel.losses").path("total").asLong()).isZero();
        assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isTrue();
    }

    @Test
    void everyCallIsOneRow() {
        assertThat(recording.rows("""
                SELECT name, truth.pid, truth.calls, events.calls
                FROM (SELECT name, pid, count(*) AS calls FROM truth
                    WHERE probed = 1 AND kind <> 'none' GROUP BY ALL) truth
                FULL JOIN (SELECT name, pid, count(*) AS calls FROM events WHERE kind IN ('%s') AND %s GROUP BY ALL) events
                USING (name, pid)
                WHERE truth.calls IS DISTINCT FROM events.calls ORDER BY ALL
                """.formatted(String.join("','", kinds), compared(layer)))).isEmpty();
    }

    @Test
    void theFooterSaysWhichLayerRecordedWhat() {
        for (JsonNode kind : recording.footer("zernel.kinds")) {
            String name = kind.path("kind").asString();
            if (kinds.contains(name) && kind.has("covered")) {
                assertThat(kind.path("runtime").asLong(0)).as(name).isEqualTo(recording.number(
                        "SELECT count(*) FROM events WHERE kind = '" + name + "' AND name LIKE '%cuda%'"));
                assertThat(kind.path("driver").asLong(0)).as(name).isEqualTo(recording.number(
                        "SELECT count(*) FROM events WHERE kind = '" + name + "' AND name NOT LIKE '%cuda%'"));
                assertThat(kind.path("covered").asLong()).as(name).isNotNegative();
            }
        }
    }

    @Test
    void everyRowSaysWhatTheProgramWroteDownInTheOrderOfItsCalls() {
        List<String> differences = new ArrayList<>();
        for (String column : recording.rows("SELECT column_name FROM (DESCRIBE events)")) {
            if (!NOT_COMPARED.contains(column)) {
                differences.addAll(differences(column));
            }
        }
        assertThat(differences).isEmpty();
    }

    private static List<String> differences(String column) {
        boolean written = recording.number(
                "SELECT count(*) FROM (DESCRIBE truth) WHERE column_name = '" + column + "'") == 1;
        String expected = written ? "CAST(t." + column + " AS VARCHAR)" : "NULL";
        return recording.rows("""
                SELECT coalesce(t.name, e.name) || '.%1$s', 'is', any_value(CAST(e.%1$s AS VARCHAR)), 'but was',
                    any_value(%2$s), count(*), 'times'
                FROM pairs
                WHERE CAST(e.%1$s AS VARCHAR) IS DISTINCT FROM %2$s
                    AND NOT ('%1$s' = 'status' AND %3$s)
                    AND NOT ('%1$s' = 'count' AND e.kind = 'cuda_graph' AND e.count > t.count)
                GROUP BY 1 ORDER BY 1
                """.formatted(column, expected, SAMPLED_LAUNCH));
    }

    @Test
    void theEndsOfSomeLaunchesOfTheDriverAreRecorded() {
        if (kinds.contains("cuda_launch") && layer == Layer.DRIVER) {
            assertThat(recording.number("SELECT count(*) FROM events WHERE kind = 'cuda_launch' AND dur_ns IS NOT NULL")
                            / (double) recording.number("SELECT count(*) FROM events WHERE kind = 'cuda_launch'"))
                    .isBetween(1.0 / 20, 1.0 / 12);
        }
    }

    /// One that failed, of which that is not recorded, counts too.
    @Test
    void graphsHaveTheLaunchesOfTheirCapture() {
        assertThat(recording.number("SELECT count(*) FROM pairs WHERE e.kind = 'cuda_graph' AND e.count > t.count"))
                .isLessThanOrEqualTo(recording.number("SELECT count(*) FROM pairs WHERE e.kind = 'cuda_graph'") / 4);
    }

    @Test
    void aKernelHasItsNameWhenItIsKnown() {
        assertThat(recording.rows("""
                SELECT DISTINCT e.name, e.kernel, t.kernel FROM pairs
                WHERE e.kernel IS NOT NULL AND e.kernel IS DISTINCT FROM t.kernel
                """)).isEmpty();
    }

    @Test
    void aCommunicatorHasOneNumberInAllItsRanksAndNoOther() {
        assertThat(recording.number("SELECT count(*) FROM pairs WHERE (t.comm_id IS NULL) <> (e.comm_id IS NULL)")).isZero();
        assertThat(recording.number("""
                SELECT count(*) FROM (SELECT t.comm_id FROM pairs GROUP BY 1 HAVING count(DISTINCT e.comm_id) > 1)
                """)).isZero();
        assertThat(recording.number("""
                SELECT count(*) FROM (SELECT e.comm_id FROM pairs GROUP BY 1 HAVING count(DISTINCT t.comm_id) > 1)
                """)).isZero();
    }

    /// The program's clock is read outside the probes, so a recorded duration is shorter than the program's: by what the
    /// probes cost, which is the machine's. It is no shorter than the 20 us that every function that waits sleeps.
    @Test
    void durationsAreThoseOfTheCaller() {
        assertThat(recording.number("SELECT count(*) FROM pairs WHERE (t.dur_ns IS NULL) <> (e.dur_ns IS NULL) AND NOT "
                        + SAMPLED_LAUNCH))
                .isZero();
        assertThat(recording.number("SELECT count(*) FROM pairs WHERE e.dur_ns > t.dur_ns")).isZero();
        if (kinds.contains("cuda_sync")) {
            assertThat(recording.number(
                            "SELECT min(e.dur_ns) FROM pairs WHERE t.name LIKE '%Synchronize%' AND t.status = 0"))
                    .isGreaterThanOrEqualTo(20_000);
        }
        System.out.println(backend + ": durations differ from the caller's by "
                + recording.value("SELECT CAST(median(t.dur_ns - e.dur_ns) AS BIGINT) FROM pairs") + " ns in the median of "
                + recording.value("SELECT count(*) FROM pairs") + " calls");
    }
}
