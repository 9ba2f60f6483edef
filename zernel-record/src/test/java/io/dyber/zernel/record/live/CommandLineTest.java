package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.elf.Gcc;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What the command says and returns where it needs no privilege.
class CommandLineTest {
    @TempDir
    private Path directory = Path.of("");

    private Path file() {
        return directory.resolve("run.parquet");
    }

    private void assertNothingLeftBehind() {
        try (Stream<Path> left = Files.list(directory)) {
            assertThat(left).isEmpty();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void helpIsAResultAndGoesToStandardOutput() {
        Running.Outcome outcome = Recorder.zernelRecord("--help").run();
        assertThat(outcome.status()).isZero();
        assertThat(outcome.out()).anyMatch(line -> line.startsWith("Usage: zernel-record"));
        assertThat(outcome.err()).isEmpty();
    }

    @Test
    void anUnknownOptionIsWrongUsage() {
        Running.Outcome outcome =
                Recorder.recordTo(file(), "--colour", "green").run();
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.out()).isEmpty();
        assertThat(outcome.err()).hasSize(2);
        assertThat(outcome.err().getFirst()).startsWith("zernel-record: ").contains("--colour");
        assertThat(outcome.err().getLast()).startsWith("hint: ");
        assertNothingLeftBehind();
    }

    @Test
    void aTimeThatIsNoneIsWrongUsage() {
        Running.Outcome outcome = Recorder.recordTo(file(), "-d", "tomorrow").run();
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.err().getFirst()).startsWith("zernel-record: ").contains("tomorrow");
        assertNothingLeftBehind();
    }

    @Test
    void gpusAreNotAskedMoreOftenThanTheyCanAnswer() {
        Running.Outcome outcome = Recorder.recordTo(file(), "--gpu-interval", "1ms").run();
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.err().getFirst()).startsWith("zernel-record: ").contains("'1ms' is shorter than 10ms");
        assertNothingLeftBehind();
    }

    @Test
    void anUnknownKindIsWrongUsageAndTheKindsAreListed() {
        Running.Outcome outcome = Recorder.recordTo(file(), "--kinds", "io,dreams").run();
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.err().getFirst()).contains("'dreams'").contains("region, backward, ");
        assertNothingLeftBehind();
    }

    @Test
    void aProbeThatCannotBeReadIsWrongUsageAndThePlaceIsShown() {
        Running.Outcome outcome =
                Recorder.recordTo(file(), "--probe", "libfoo.so:step(bytes=arg77)").run();
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.err()).anyMatch(line -> line.contains("arg77")).anyMatch(line -> line.strip().startsWith("^"));
        assertNothingLeftBehind();
    }

    @Test
    void aFileThatIsNoParquetCannotBeRecovered() throws IOException {
        Path text = Files.writeString(directory.resolve("notes.txt"), "not a recording\n");
        Running.Outcome outcome = Recorder.zernelRecord("recover", text.toString()).run();
        assertOneLine(outcome, "notes.txt");
        assertThat(text).hasContent("not a recording\n");
        try (Stream<Path> left = Files.list(directory)) {
            assertThat(left).containsExactly(text);
        }
    }

    @Test
    void aFileThatIsNotThereCannotBeRecovered() {
        assertOneLine(Recorder.zernelRecord("recover", file().toString()).run(), "run.parquet");
        assertNothingLeftBehind();
    }

    @Test
    void aProcessThatIsNotThereCannotBeRecorded() {
        assertOneLine(
                Recorder.recordTo(file(), "-p", "99999999").run(), "recording process 99999999: no such process");
        assertNothingLeftBehind();
    }

    @Test
    void theKindsAreListed() {
        Running.Outcome outcome = Recorder.zernelRecord("probes").run();
        assertThat(outcome.status()).isZero();
        assertThat(outcome.out().stream().map(line -> line.split("\\s+")[0]))
                .containsSubsequence(List.of("region", "backward", "process", "io", "wait", "call"));
    }

    @Test
    void ofALibraryThereIsOneLineAKind() throws IOException, InterruptedException {
        Path library = runtime();
        assertThat(Recorder.zernelRecord("probes", library.toString()).runWell().out())
                .contains(
                        "cuda_launch found    2 functions in " + library,
                        "gpu_alloc   found    cudaMalloc in " + library,
                        "gpu_free    missing  none of 3 functions in " + library + ": no such function in the file",
                        "gpu_map     waiting  no process has loaded libcuda.so.1 or libcudart.so "
                                + "(address space of the driver reserved, mapped and unmapped)")
                .noneMatch(line -> line.contains("cudaLaunchKernel"));
    }

    @Test
    void theFunctionsAreListedOnRequest() throws IOException, InterruptedException {
        Path library = runtime();
        assertThat(Recorder.zernelRecord("probes", "--functions", library.toString()).runWell().out())
                .contains(
                        "cuda_launch found    emulated       cudaLaunchKernel in " + library,
                        "cuda_launch found    emulated       cudaLaunchKernelExC in " + library,
                        "gpu_free    missing                 cudaFree in " + library + ": no such function in the file");
        assertThat(String.join("\n", Recorder.zernelRecord("probes", "--json", library.toString()).runWell().out()))
                .contains("\"symbol\" : \"cudaLaunchKernel\"", "\"symbol\" : \"cudaLaunchKernelExC\"");
    }

    /// A library that has the names of three functions of the CUDA runtime.
    private Path runtime() throws IOException, InterruptedException {
        return Gcc.compile(directory, "libcudart.so.12", """
                int cudaLaunchKernel(void) { return 0; }
                int cudaLaunchKernelExC(void) { return 0; }
                int cudaMalloc(void) { return 0; }
                """, "-shared", "-fPIC");
    }

    @Test
    void aProgramWithoutACudaRuntimeInsideLacksNothing() {
        assertThat(Recorder.zernelRecord("probes", "--functions").runWell().out())
                .noneMatch(line -> line.contains("/bin/java"));
    }

    @Test
    void aSimulationNeedsNoPrivilege() {
        Recorder.recordTo(file(), "--simulate", "--steps", "50").runWell();
        try (Recording recording = Recording.open(file())) {
            assertThat(recording.number("SELECT count(*) FROM events WHERE name LIKE 'Optimizer.step#%'"))
                    .isEqualTo(50);
            assertThat(recording.footer("zernel.recording").path("simulated").asBoolean()).isTrue();
        }
    }

    @Test
    void aDirectoryThatDoesNotExistCannotBeWrittenTo() {
        Running.Outcome outcome = Recorder.zernelRecord(
                        "-o", directory.resolve("nowhere/run.parquet").toString(), "--simulate")
                .run();
        assertOneLine(outcome, "nowhere");
        assertNothingLeftBehind();
    }

    /// One line, perhaps a hint, and status 1.
    static void assertOneLine(Running.Outcome outcome, String what) {
        assertThat(outcome.status()).as(outcome.toString()).isEqualTo(1);
        assertThat(outcome.out()).isEmpty();
        assertThat(outcome.err()).as(outcome.toString()).hasSizeBetween(1, 2);
        assertThat(outcome.err().getFirst()).startsWith("zernel-record: ").contains(what);
        assertThat(outcome.err().subList(1, outcome.err().size())).allMatch(line -> line.startsWith("hint: "));
    }
}
