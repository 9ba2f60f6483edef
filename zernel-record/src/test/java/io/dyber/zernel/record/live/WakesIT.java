package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Who ended a thread's sleep, and who had the CPU that it waited for. Each thread waits five times.
@Tag("alone")
class WakesIT {
    private static Truth truth = new Truth(List.of());
    private static Recording recording = Recording.none();

    @BeforeAll
    static void record(@TempDir Path directory) {
        Needs.bpf();
        Path file = directory.resolve("run.parquet");
        truth = Truth.of(Recorder.recordTo(file, "--kinds", "sched,process", "--wait-min", "0us")
                .with("--", Programs.built("wakes").toString())
                .runWell()
                .out());
        recording = Recording.open(file);
    }

    @AfterAll
    static void close() {
        recording.close();
    }

    /// Who woke a thread from its long sleeps, and whether these take as long as more than half of so many of 60 ms: a
    /// sleep whose end the kernel did not report, or which began while the thread was preempted, says nothing of wakers.
    private static List<String> wakersOf(String comm, int sleeps) {
        return recording.rows("""
                SELECT waker_tid, sum(dur_ns) > %d * 60000000 / 2 FROM events
                WHERE kind = 'sched' AND comm = '%s' AND state <> 'preempted' AND dur_ns >= 5000000 GROUP BY ALL
                """.formatted(sleeps, comm));
    }

    private static long tid(String name) {
        return truth.of(name).path("tid").asLong();
    }

    @Test
    void theThreadThatGaveALockBackWokeTheOneThatWaitedForIt() {
        assertThat(wakersOf("z-locked", 5)).containsExactly(tid("holder") + " true");
    }

    @Test
    void theThreadThatWroteWokeTheReader() {
        assertThat(wakersOf("z-reader", 5)).containsExactly(tid("writer") + " true");
    }

    @Test
    void nobodyWakesAThreadThatGivesUpWaiting() {
        assertThat(wakersOf("z-gives-up", 10)).containsExactly("null true");
    }

    @Test
    void aTimerIsNotTheThreadThatItInterruptsInItsProgram() {
        assertThat(wakersOf("z-sleep", 5)).containsExactly("null true");
    }

    @Test
    void aTimerIsNotTheThreadThatItInterruptsInTheKernel() {
        assertThat(wakersOf("z-nap", 5)).containsExactly("null true");
    }

    @Test
    void aPreemptedThreadWasNotWoken() {
        assertThat(recording.number("SELECT count(waker_tid) FROM events WHERE state IN ('preempted', 'started')"))
                .isZero();
    }

    @Test
    void theOtherProcessHadTheCpuOfAThreadThatCompetes() {
        long rival = truth.of("rival").path("pid").asLong();
        long spin = truth.of("spin").path("pid").asLong();
        assertThat(recording.rows(otherOf("z-spin", "z-rival"))).containsExactly(rival + " z-rival");
        assertThat(recording.rows(otherOf("z-rival", "z-spin"))).containsExactly(spin + " z-spin");
    }

    private static String otherOf(String comm, String other) {
        return """
                SELECT DISTINCT other_pid, other_comm FROM events
                WHERE kind = 'sched' AND state = 'preempted' AND comm = '%s' AND other_comm = '%s'
                """.formatted(comm, other);
    }

    @Test
    void whoHadTheCpuHasANameAndNobodyHasNone() {
        assertThat(recording.rows("SELECT DISTINCT (other_pid IS NULL) = (other_comm IS NULL), coalesce(other_pid, 1) > 0 "
                        + "FROM events WHERE kind = 'sched'"))
                .containsExactly("true true");
        assertThat(recording.number("SELECT count(other_pid) FROM events WHERE kind = 'sched' AND runq_ns IS NULL"))
                .isZero();
    }
}
