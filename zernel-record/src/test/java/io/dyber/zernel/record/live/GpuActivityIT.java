package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.activity.GpuActivity;
import io.dyber.zernel.record.process.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// What ran on a pretended GPU, by our library in the job and a pretended CUPTI, which writes down what it told.
class GpuActivityIT {
    private static final String NAME = "zernel-activity-";

    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
    }

    @BeforeEach
    void makeFolder() throws IOException {
        Files.createDirectories(told());
    }

    private Path told() {
        return directory.resolve("gpu");
    }

    private Path file() {
        return directory.resolve("run.parquet");
    }

    private Recorder recorder(String... options) {
        return Recorder.recordTo(file(), "--gpu-activity")
                .with(options)
                .property(Machine.BARE_METAL, "true")
                .environment("STANDIN_GPU", told().toString())
                .environment("STANDIN_CUPTI_SHIFT", "-4000000000000");
    }

    /// Records `stepping`.
    private Recording stepping(Map<String, String> environment, List<String> options, String... arguments) {
        Recorder recorder = recorder(options.toArray(String[]::new));
        for (Map.Entry<String, String> one : environment.entrySet()) {
            recorder = recorder.environment(one.getKey(), one.getValue());
        }
        List<String> command = new ArrayList<>(List.of("--", Programs.standIns().resolve("stepping").toString()));
        command.addAll(List.of(arguments));
        recorder.with(command.toArray(String[]::new)).runWell();
        return Recording.open(file());
    }

    private void tell(Recording recording) {
        recording.define("CREATE TABLE told AS FROM read_csv('" + told() + "/*.csv', header = true, sample_size = -1)");
    }

    private static long offset(Recording recording) {
        return recording.footer("zernel.clock").path("offset_ns").asLong();
    }

    private static JsonNode onlyProcess(Recording recording) {
        JsonNode processes = recording.footer("zernel.gpu_activity").path("processes");
        assertThat(processes.size()).as(processes.toString()).isEqualTo(1);
        return processes.path(0);
    }

    private static long rows(Recording recording) {
        return recording.number("SELECT count(*) FROM events WHERE kind IN ('gpu_kernel', 'gpu_memcpy', 'gpu_memset')");
    }

    private static void nothingIsLeft() throws IOException {
        for (Path folder : List.of(Path.of("/dev/shm"), Path.of(System.getProperty("java.io.tmpdir")))) {
            try (Stream<Path> files = Files.list(folder)) {
                assertThat(files.filter(file -> file.getFileName().toString().startsWith(NAME))).isEmpty();
            }
        }
    }

    /// Launches of every kind, copies and fills, from several threads and through several layers.
    @ParameterizedTest
    @ValueSource(strings = {"job-12", "job-13", "job-static"})
    void rowsAreWhatTheGpuDid(String job) throws IOException {
        List<String> files = List.of("libcuda.so.1");
        Recorder recorder = recorder("--detail", "all").environment("LD_LIBRARY_PATH", Programs.standIns().toString());
        try (Recording recording = StandIns.record(
                        directory, recorder, List.of(), files, job, List.of("all", "3", "8", "7"))
                .recording()) {
            long offset = offset(recording);
            JsonNode process = onlyProcess(recording);
            long error = process.path("error_ns").asLong();
            tell(recording);
            recording.define("""
                    CREATE TABLE pairs AS SELECT t, e FROM told t
                    FULL JOIN (FROM events WHERE kind IN ('gpu_kernel', 'gpu_memcpy', 'gpu_memset')) e
                    ON t.correlation = e.correlation AND t.kind = e.kind AND t.pid = e.pid
                    """);
            assertThat(recording.rows("SELECT kind FROM told GROUP BY kind HAVING count(*) > 100 ORDER BY kind"))
                    .containsExactly("gpu_kernel", "gpu_memcpy", "gpu_memset");
            assertThat(rows(recording)).isEqualTo(recording.number("SELECT count(*) FROM told"));
            assertThat(recording.rows("""
                    SELECT t, e FROM pairs WHERE t.name IS DISTINCT FROM e.name OR t.dur_ns IS DISTINCT FROM e.dur_ns
                        OR t.device IS DISTINCT FROM e.device OR t.stream IS DISTINCT FROM e.stream
                        OR (t.kind = 'gpu_kernel' AND (t.grid_x, t.grid_y, t.grid_z, t.block_x, t.block_y, t.block_z)
                            IS DISTINCT FROM (e.grid_x, e.grid_y, e.grid_z, e.block_x, e.block_y, e.block_z))
                        OR (t.kind <> 'gpu_kernel' AND t.bytes IS DISTINCT FROM e.bytes)
                    LIMIT 3
                    """)).isEmpty();
            assertThat(recording.number("SELECT max(abs(e.ts_ns - (t.begin_ns + " + offset + "))) FROM pairs"))
                    .isLessThanOrEqualTo(error);
            assertThat(recording.number("SELECT count(*) FROM pairs WHERE e.launch_ns IS NULL")).isZero();
            assertThat(recording.number("SELECT max(abs(e.launch_ns - (t.launch_ns + " + offset + "))) FROM pairs"))
                    .isLessThanOrEqualTo(error);
            assertThat(recording.number("SELECT count(*) FROM events WHERE starts_with(kind, 'gpu_mem') AND copy_kind IS NULL"))
                    .isZero();
            assertThat(recording.rows("SELECT DISTINCT host_memory FROM events WHERE kind = 'gpu_memcpy' ORDER BY 1 NULLS FIRST"))
                    .containsExactly("null", "pageable", "pinned");
            assertThat(process.path("state").asString()).isEqualTo("ended");
            assertThat(process.path("cupti").asInt()).isEqualTo(job.equals("job-12") ? 26 : 130001);
            assertThat(process.path("overhead_ns").asLong()).isEqualTo(12345);
            assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isTrue();
        }
        nothingIsLeft();
    }

    @Test
    void aFullRingIsCountedAndTheJobGoesOn() throws IOException {
        try (Recording recording = stepping(
                Map.of("JAVA_TOOL_OPTIONS", "-D" + GpuActivity.RING_PROPERTY + "=65536"),
                List.of("--detail", "all"), "2", "2000", "1", "1000")) {
            tell(recording);
            JsonNode process = onlyProcess(recording);
            assertThat(process.path("lost").asLong()).isPositive();
            assertThat(rows(recording) + process.path("lost").asLong() + process.path("dropped").asLong())
                    .isEqualTo(recording.number("SELECT count(*) FROM told"));
            assertThat(recording.footer("zernel.recording").path("incomplete_because").toString())
                    .contains("GPU activities of process " + process.path("pid") + " found their ring full");
        }
    }

    @Test
    void itGivesWayToAnotherProfiler() {
        try (Recording recording =
                stepping(Map.of("STANDIN_CUPTI_TAKEN", "0"), List.of(), "1", "100", "1", "1000")) {
            JsonNode process = onlyProcess(recording);
            assertThat(process.path("state").asString()).isEqualTo("aside");
            assertThat(process.path("why").asString()).isEqualTo("another profiler uses CUPTI in this process");
            assertThat(rows(recording)).isZero();
            assertThat(state(recording)).isEqualTo("unavailable another profiler uses CUPTI in this process");
        }
    }

    @Test
    void itGivesWayToAProfilerThatComesLater() {
        try (Recording recording =
                stepping(Map.of("STANDIN_CUPTI_TAKEN", "700"), List.of("--detail", "all"), "3", "100", "1", "1000")) {
            tell(recording);
            assertThat(onlyProcess(recording).path("state").asString()).isEqualTo("aside");
            assertThat(rows(recording)).isPositive().isLessThan(recording.number("SELECT count(*) FROM told"));
            assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isFalse();
        }
    }

    @Test
    void aLibraryThatComesBeforeCudaWaitsForIt() {
        try (Recording recording =
                stepping(Map.of("STANDIN_CUPTI_NOT_YET", "3"), List.of("--detail", "all"), "1", "100", "1", "1000")) {
            tell(recording);
            assertThat(rows(recording)).isPositive().isEqualTo(recording.number("SELECT count(*) FROM told"));
        }
    }

    @Test
    void anInjectionOfSomebodyElseStays() {
        try (Recording recording =
                stepping(Map.of(GpuActivity.INJECTION, "/nowhere/libother.so"), List.of(), "1", "100", "1", "1000")) {
            assertThat(state(recording))
                    .isEqualTo("unavailable another profiler is asked for: CUDA_INJECTION64_PATH is set");
        }
    }

    private static String state(Recording recording) {
        return recording.footer("zernel.kinds").valueStream()
                .filter(kind -> kind.path("kind").asString().equals("gpu_kernel"))
                .map(kind -> kind.path("state").asString() + " " + kind.path("why").asString())
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aJobWithoutCuptiRunsOn() throws IOException {
        try (Running running = recorder()
                .environment("STANDIN_DRIVER", Programs.standIns().resolve("libcuda.so.1").toString())
                .with("--", Programs.standIns().resolve("alone/changeover").toString(), "1", "300")
                .start()) {
            running.awaitLine("waiting ");
            running.say("go");
            assertThat(running.await().status()).isZero();
        }
        try (Recording recording = Recording.open(file())) {
            assertThat(state(recording)).isEqualTo("unavailable no libcupti beside the job's CUDA runtime");
            assertThat(onlyProcess(recording).path("state").asString()).isEqualTo("failed");
        }
        nothingIsLeft();
    }

    @Test
    void aJobIsNotTouchedWithoutTheOption() throws IOException {
        Recorder.recordTo(file())
                .environment("STANDIN_GPU", told().toString())
                .with("--", Programs.standIns().resolve("stepping").toString(), "1", "100", "1", "1000")
                .runWell();
        try (Recording recording = Recording.open(file());
                Stream<Path> files = Files.list(told())) {
            assertThat(state(recording)).isEqualTo("off no --gpu-activity");
            assertThat(recording.footer("zernel.gpu_activity").isMissingNode() || recording.footer("zernel.gpu_activity").isEmpty())
                    .isTrue();
            assertThat(files).isEmpty();
        }
    }

    @Test
    void aJobOutlivesARecorderThatIsKilledAndTheNextOneCleansUp() throws IOException {
        Path steps = directory.resolve("steps");
        long killed;
        try (Running running = recorder()
                .environment("STEPPING", steps.toString())
                .with("--", Programs.standIns().resolve("stepping").toString(), "6", "100", "1", "1000")
                .start()) {
            running.awaitLine("ready");
            Running.pause(1000);
            running.signal("KILL");
            killed = System.nanoTime();
            long deadline = System.nanoTime() + 60_000_000_000L;
            while (!Files.exists(steps) && System.nanoTime() < deadline) {
                Running.pause(50);
            }
            Running.pause(200);
        }
        // Both clocks are CLOCK_MONOTONIC. The job goes on for 6 s in all.
        long lastBegan = Long.parseLong(Files.readAllLines(steps).getLast().split(" ", -1)[0]);
        assertThat(lastBegan).isGreaterThan(killed + 1_000_000_000L);
        Path other = directory.resolve("other.parquet");
        Recorder.recordTo(other, "--gpu-activity").with("--", "true").runWell();
        nothingIsLeft();
    }

    @Test
    void whatAProcessDidBeforeItWasKilledIsThere() throws IOException {
        try (Running running = recorder("--detail", "all")
                .with("--", Programs.standIns().resolve("stepping").toString(), "60", "100", "1", "1000")
                .start()) {
            running.awaitLine("ready");
            Running.pause(1500);
            ProcessHandle.of(running.pid()).orElseThrow().descendants()
                    .filter(process -> process.info().command().orElse("").endsWith("stepping"))
                    .forEach(ProcessHandle::destroyForcibly);
            assertThat(running.await().status()).isEqualTo(137);
        }
        try (Recording recording = Recording.open(file())) {
            assertThat(rows(recording)).isGreaterThan(1000);
            assertThat(onlyProcess(recording).path("state").asString()).isEqualTo("killed");
            assertThat(onlyProcess(recording).path("windows").size()).isEqualTo(1);
            assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isFalse();
        }
        nothingIsLeft();
    }

    @Test
    void aJobThatGoesOnAfterTheRecordingIsLeftAlone() throws IOException {
        Path steps = directory.resolve("steps");
        try (Running running = recorder("--detail", "all", "-d", "2s")
                .environment("STEPPING", steps.toString())
                .with("--", "setsid", Programs.standIns().resolve("stepping").toString(), "6", "100", "1", "1000")
                .start()) {
            running.await();
        }
        try (Recording recording = Recording.open(file())) {
            tell(recording);
            assertThat(rows(recording)).isPositive();
            assertThat(onlyProcess(recording).path("state").asString()).isIn("off", "ended");
        }
        nothingIsLeft();
    }

    @Test
    void partsOfASeriesHaveWhatRanInThem() throws IOException {
        recorder("--detail", "all", "--rotate", "1s")
                .with("--", Programs.standIns().resolve("stepping").toString(), "4", "100", "1", "1000")
                .runWell();
        List<Path> parts;
        try (Stream<Path> files = Files.list(directory)) {
            parts = files.filter(file -> file.toString().endsWith(".parquet")).sorted().toList();
        }
        assertThat(parts).hasSizeGreaterThan(2);
        long rows = 0;
        for (Path part : parts) {
            try (Recording recording = Recording.open(part)) {
                rows += rows(recording);
            }
        }
        try (Recording recording = Recording.open(parts.getLast())) {
            tell(recording);
            assertThat(rows).isEqualTo(recording.number("SELECT count(*) FROM told"));
        }
    }

    /// A job that ends soon after a window has handed over what was complete late, too.
    @ParameterizedTest
    @ValueSource(strings = {"0", "120"})
    void activityIsRecordedInTheWindowsOfDetail(String late) {
        try (Recording recording = stepping(
                Map.of("STANDIN_CUPTI_LATE", late), List.of("--detail", "5/50"), "6", "100", "1", "5000")) {
            tell(recording);
            JsonNode windows = onlyProcess(recording).path("windows");
            assertThat(recording.footer("zernel.detail").path("windows").size()).isGreaterThan(3);
            assertThat(windows.size()).isGreaterThan(3);
            assertThat(rows(recording)).isPositive();
            assertThat(rows(recording)).isEqualTo(recording.number("SELECT count(*) FROM told"));
            long launched = recording.number("SELECT count(*) FROM events WHERE kind = 'region'") * 100;
            assertThat(rows(recording)).isLessThan(launched / 2);
            long within = windows.valueStream().mapToLong(window -> window.path("activities").asLong()).sum();
            assertThat(within).isEqualTo(rows(recording));
        }
    }
}
