package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
        Recorder recorder = Recorder.recordTo(file(), "--kinds", "cuda_launch", "--detail", how);
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
            assertThat(recording.footer("zernel.detail").path("recorded").asString()).isEqualTo(how);
        }
    }

    @ParameterizedTest
    @CsvSource({"all, 10000", "sample:10, 1000", "count, 0"})
    void whereTheDriverIsNotProbedTheRuntimesLaunchesAreTakenOnce(String how, long recorded) {
        long least = how.startsWith("sample") ? recorded - Runtime.getRuntime().availableProcessors() : recorded;
        Recorder recorder = Recorder.recordTo(file(), "--kinds", "cuda_launch", "--detail", how);
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
        Recorder recorder = Recorder.recordTo(file(), "--kinds", "cuda_launch", "--detail", "off");
        try (Recording recording = StandIns.record(
                        directory, recorder, List.of(), List.of("libcuda.so.1"), "job-13", List.of("launch", "2", "5000", "7"))
                .recording()) {
            assertThat(recording.number(CALLS)).isZero();
            assertThat(recording.footer("zernel.probes").valueStream()
                            .filter(probe -> probe.path("symbol").asString().equals("cuLaunchKernel"))
                            .map(probe -> probe.path("state").asString() + ": " + probe.path("why").asString()))
                    .containsExactly("off: left out by --detail off");
        }
    }
}
