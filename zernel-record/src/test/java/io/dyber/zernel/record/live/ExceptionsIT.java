package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Probed functions that are left otherwise than by returning, or where the stack is switched: the job goes on as it would without a recorder.
class ExceptionsIT {
    @TempDir
    private Path directory = Path.of("");

    private Path file = Path.of("");

    @BeforeEach
    void needs() {
        Needs.bpf();
        file = directory.resolve("run.parquet");
    }

    @ParameterizedTest
    @ValueSource(strings = {"best", "multi", "perf"})
    void aProgramCatchesWhatBackwardAndOperatorsThrow(String backend) {
        Recorder recorder = Recorder.recordTo(file, "--probe", "torch_op:aten::mm")
                .with(backendOption(backend))
                .with("--", Needs.python("torch"), Programs.source("caught.py"));

        assertThat(recorder.runWell().out()).contains("caught 20");

        try (Recording recording = Recording.open(file)) {
            assertThat(recording.rows("""
                    SELECT kind, count(dur_ns) FROM events WHERE kind IN ('backward', 'torch_op') AND name != 'aten::mm_out'
                    GROUP BY kind ORDER BY kind""")).containsExactly("backward 10", "torch_op 10");
            assertThat(recording.number(
                            "SELECT count(*) FROM events WHERE kind IN ('backward', 'torch_op') AND dur_ns > 1e9"))
                    .isZero();
        }
    }

    /// The C library calls `_setjmp` before `main`, and `_setjmp` jumps to `__sigsetjmp`.
    @Test
    void functionsThatReturnTwiceAreOneCall() {
        Recorder recorder = Recorder.recordTo(file)
                .with("--kinds", "call", "--probe", "libc.so.6:*setjmp", "--probe", "libc.so.6:getcontext", "--probe", "libc.so.6:puts")
                .with("--", Programs.built("twice").toString());

        assertThat(recorder.runWell().out()).contains("went on");

        try (Recording recording = Recording.open(file)) {
            assertThat(recording.rows("""
                    SELECT name, count(*), count(dur_ns) FROM events WHERE kind = 'call' AND comm = 'twice'
                    GROUP BY name ORDER BY name"""))
                    .containsExactly("__sigsetjmp 3 3", "_setjmp 2 2", "getcontext 1 1", "puts 1 1");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"best", "multi", "perf"})
    void coroutinesGoOnAndThreadsThatEndCleanUp(String backend) {
        Recorder recorder = Recorder.recordTo(file)
                .with(backendOption(backend))
                .with("--probe", Programs.built("stacks") + ":stacks_*", "--probe", "libc.so.6:swapcontext")
                .with("--probe", "libc.so.6:sem_wait", "--probe", "libc.so.6:pthread_*wait")
                .with("--", Programs.built("stacks").toString());

        assertThat(recorder.runWell().out()).contains("cleaned up 9 times");

        try (Recording recording = Recording.open(file)) {
            assertThat(recording.rows("""
                    SELECT name, count(*) FROM events WHERE kind = 'call' GROUP BY name ORDER BY name"""))
                    .containsExactly(
                            "pthread_cond_wait 3",
                            "sem_wait 3",
                            "stacks_exit 3",
                            "stacks_switch 22",
                            "stacks_wait 3",
                            "stacks_wait_locked 3",
                            "swapcontext 22");
            assertThat(recording.number("SELECT count(dur_ns) FROM events WHERE name LIKE 'stacks_wait%' OR name = 'stacks_exit'"))
                    .isZero();
        }
    }

    /// The kernel refuses one of them, or some. All programs of the machine call them meanwhile.
    @Test
    @Tag("alone")
    void aProgramGoesOnWithEveryFunctionOfTheCLibraryProbed() {
        Recorder recorder = Recorder.recordTo(file, "--kinds", "call", "--probe", "libc.so.6:*")
                .with("--", Programs.built("stacks").toString());

        assertThat(recorder.runWell().out()).contains("cleaned up 9 times");

        try (Recording recording = Recording.open(file)) {
            assertThat(recording.number("SELECT count(*) FROM events WHERE name = 'swapcontext'")).isEqualTo(22);
            assertThat(recording.footer("zernel.probes").valueStream()
                            .map(probe -> probe.path("state").asString())
                            .filter(state -> state.equals("attached"))
                            .count()).isGreaterThan(1000);
            assertThat(recording.footer("zernel.probes").valueStream()
                            .filter(probe -> probe.path("symbol").asString().equals("pthread_spin_lock"))
                            .map(probe -> probe.path("state").asString() + ": " + probe.path("why").asString()))
                    .containsExactly("missing: the kernel cannot probe one of the instructions it begins or ends with");
        }
    }

    private static String[] backendOption(String backend) {
        return backend.equals("best") ? new String[0] : new String[] {"--backend", backend};
    }
}
