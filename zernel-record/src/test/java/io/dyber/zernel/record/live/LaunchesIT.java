package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.process.Machine;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/// How much is recorded of kernel launches, of two threads that launch 5,000 each.
class LaunchesIT {
    private static final String CALLS = "SELECT coalesce(sum(coalesce(count, 1)), 0) FROM events"
            + " WHERE kind = 'cuda_launch' AND coalesce(depth, 0) = 0";

    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
    }

    private Path file() {
        return directory.resolve("run.parquet");
    }

    private Recording launching(String how) {
        Recorder recorder = Recorder.recordTo(file(), "--kinds", "cuda_launch", "--launches", how);
        List<String> files = how.equals("all") ? List.of("libcuda.so.1", "libcudart.so.13") : List.of("libcuda.so.1");
        return StandIns.record(directory, recorder, List.of(), files, "job-13", List.of("launch", "2", "5000", "7")).recording();
    }

    @ParameterizedTest
    @CsvSource({"all, 10000", "sample:10, 1000", "count, 0"})
    void theNumberOfLaunchesIsExactWhateverIsRecordedOfThem(String how, long recorded) {
        // Each CPU takes every tenth of its own calls.
        long least = how.startsWith("sample") ? recorded - Runtime.getRuntime().availableProcessors() : recorded;
        try (Recording recording = launching(how)) {
            assertThat(recording.number(CALLS)).isEqualTo(10_000);
            assertThat(recording.number("SELECT count(*) FROM events WHERE kind = 'cuda_launch' AND depth = 0"))
                    .isBetween(least, recorded);
            assertThat(recording.footer("zernel.launches").path("recorded").asString()).isEqualTo(how);
        }
    }

    @ParameterizedTest
    @CsvSource({"all, 10000", "sample:10, 1000", "count, 0"})
    void whereTheDriverIsNotProbedTheRuntimesLaunchesAreTakenOnce(String how, long recorded) {
        long least = how.startsWith("sample") ? recorded - Runtime.getRuntime().availableProcessors() : recorded;
        Recorder recorder = Recorder.recordTo(file(), "--kinds", "cuda_launch", "--launches", how);
        try (Recording recording = StandIns.record(
                        directory,
                        recorder,
                        List.of(),
                        List.of("alone/job-hidden"),
                        "alone/job-hidden",
                        List.of("launch", "2", "5000", "7"))
                .recording()) {
            assertThat(recording.number(CALLS)).isEqualTo(10_000);
            assertThat(recording.number("SELECT count(*) FROM events WHERE kind = 'cuda_launch' AND depth = 0"))
                    .isBetween(least, recorded);
        }
    }

    @Test
    void launchesCanBeLeftOut() {
        Recorder recorder = Recorder.recordTo(file(), "--kinds", "cuda_launch", "--launches", "off");
        try (Recording recording = StandIns.record(
                        directory, recorder, List.of(), List.of("libcuda.so.1"), "job-13", List.of("launch", "2", "5000", "7"))
                .recording()) {
            assertThat(recording.number(CALLS)).isZero();
            assertThat(recording.footer("zernel.probes").valueStream()
                            .filter(probe -> probe.path("symbol").asString().equals("cuLaunchKernel"))
                            .map(probe -> probe.path("state").asString() + ": " + probe.path("why").asString()))
                    .containsExactly("off: left out by --launches off");
        }
    }

    @Test
    void lessIsRecordedWhenTheProbesCostMoreThanTheirBudget() {
        String python = Needs.python("ctypes");
        String program = """
                import ctypes, time
                cuda = ctypes.CDLL('%s')
                end = time.time() + 5
                while time.time() < end:
                    for i in range(50):
                        cuda.cuLaunchKernel(None, 1, 1, 1, 1, 1, 1, 0, None, None, None)
                    time.sleep(0.01)
                """.formatted(Programs.standIns().resolve("libcuda.so.1"));
        Running.Outcome outcome = Recorder.recordTo(file(), "--kinds", "cuda_launch", "--overhead-budget", "0.0001%")
                .property(Machine.BARE_METAL, "true")
                .with("--", python, "-c", program)
                .runWell();
        assertThat(outcome.err()).anyMatch(line -> line.contains("launches sample:16 instead of all"));
        try (Recording recording = Recording.open(file())) {
            JsonNode first = recording.footer("zernel.launches").path("changes").path(0);
            assertThat(first.path("from").asString()).isEqualTo("all");
            assertThat(first.path("to").asString()).isEqualTo("sample:16");
            assertThat(recording.rows("SELECT name FROM events WHERE kind = 'mark' ORDER BY ts_ns").getFirst())
                    .endsWith("launches sample:16 instead of all");
        }
    }
}
