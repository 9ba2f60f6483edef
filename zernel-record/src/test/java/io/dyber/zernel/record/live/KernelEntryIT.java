package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Samples of threads that spend a second of CPU time each in their own code, in page faults, in system calls, and in a probe
/// of a function.
class KernelEntryIT {
    private static Recording recording = Recording.none();

    @BeforeAll
    static void record(@TempDir Path directory) {
        Needs.bpf();
        Path file = directory.resolve("run.parquet");
        String program = Programs.built("entries").toString();
        Recorder.recordTo(file, "--kinds", "sample,process,call", "--sample-rate", "499")
                .with("--probe", program + ":probed", "--", program)
                .runWell();
        recording = Recording.open(file);
    }

    @AfterAll
    static void close() {
        recording.close();
    }

    /// The share of a thread's samples for which a condition holds, in percent.
    private static long share(String thread, String condition) {
        return recording.number("SELECT count(*) FROM events WHERE kind = 'sample' AND comm = '%s' AND (%s)".formatted(thread, condition))
                * 100
                / recording.number("SELECT count(*) FROM events WHERE kind = 'sample' AND comm = '%s'".formatted(thread));
    }

    @Test
    void aThreadInItsOwnCodeIsNotInTheKernel() {
        assertThat(share("z-own", "kernel_entry IS NULL")).isGreaterThan(90);
    }

    @Test
    void aThreadThatTouchesNewMemoryIsInPageFaults() {
        assertThat(share("z-fault", "kernel_entry = -1")).isGreaterThan(50);
        assertThat(share("z-fault", "kernel_entry IN (-1, 9, 11) OR kernel_entry IS NULL")).isGreaterThan(90);
    }

    @Test
    void aThreadInASystemCallIsInThatOne() {
        assertThat(share("z-copy", "kernel_entry = 0")).isGreaterThan(90);
        assertThat(share("z-populate", "kernel_entry IN (9, 11)")).isGreaterThan(90);
        assertThat(share("z-populate", "kernel_entry = 9")).isGreaterThan(30);
    }

    @Test
    void aThreadInAFunctionThatIsProbedWhereItIsLeftIsInTheProbe() {
        assertThat(share("z-probed", "kernel_entry = -3")).isGreaterThan(70);
        assertThat(share("z-probed", "kernel_entry = -1")).isLessThan(15);
    }
}
