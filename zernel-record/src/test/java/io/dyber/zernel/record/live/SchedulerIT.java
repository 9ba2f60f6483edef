package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Spans off the CPU of threads whose switches the kernel has counted, as `getrusage` and `schedstat` say.
@Tag("alone")
class SchedulerIT {
    private static Truth truth = new Truth(List.of());
    private static Recording recording = Recording.none();

    @BeforeAll
    static void record(@TempDir Path directory) {
        Needs.bpf();
        Path file = directory.resolve("run.parquet");
        truth = Truth.of(Recorder.recordTo(file, "--kinds", "sched,process", "--wait-min", "0us")
                .with("--", Programs.built("spans").toString())
                .runWell()
                .out());
        recording = Recording.open(file);
    }

    @AfterAll
    static void close() {
        recording.close();
    }

    /// The rows of a thread between the two moments at which it asked the kernel.
    private static String spans(JsonNode thread) {
        long offset = recording.footer("zernel.clock").path("offset_ns").asLong();
        return "events WHERE kind = 'sched' AND tid = %d AND ts_ns BETWEEN %d AND %d"
                .formatted(
                        thread.path("tid").asLong(),
                        thread.path("from").asLong() + offset,
                        thread.path("to").asLong() + offset);
    }

    @Test
    void everySwitchOfASleepingThreadIsASpan() {
        JsonNode sleep = truth.of("sleep");
        assertThat(recording.number("SELECT count(*) FROM " + spans(sleep) + " AND state IN ('sleeping', 'blocked', 'io')"))
                .isEqualTo(sleep.path("voluntary").asLong());
        assertThat(recording.rows("""
                SELECT name, comm, state, count(*), bool_and(dur_ns < 1000000000), bool_and(runq_ns < dur_ns)
                FROM %s AND dur_ns >= 60000000 GROUP BY ALL
                """.formatted(spans(sleep)))).containsExactly("off-cpu z-sleep sleeping 5 true true");
    }

    @Test
    void everyPreemptionOfACompetingThreadIsASpan() {
        JsonNode spin = truth.of("spin");
        assertThat(spin.path("involuntary").asLong()).isPositive();
        assertThat(recording.number("SELECT count(*) FROM " + spans(spin) + " AND state = 'preempted'"))
                .isEqualTo(spin.path("involuntary").asLong());
    }

    /// The kernel adds up the same waits from its own, coarser clock. It does not announce every switch: then the end
    /// of a span is not known.
    @Test
    void theTimeWaitingForACpuIsWhatTheKernelSays() {
        JsonNode spin = truth.of("spin");
        double waited = recording.number("SELECT sum(runq_ns) FROM " + spans(spin));
        long endless = recording.number("SELECT count(*) FROM " + spans(spin) + " AND dur_ns IS NULL");
        assertThat(waited / spin.path("waited_ns").asLong()).isBetween(endless == 0 ? 0.95 : 0.0, 1.05);
        assertThat(endless).isLessThan(spin.path("involuntary").asLong() / 4);
        assertThat(recording.rows("SELECT DISTINCT dur_ns = runq_ns FROM " + spans(spin)
                        + " AND state = 'preempted' AND dur_ns IS NOT NULL"))
                .containsExactly("true");
    }

    @Test
    void aNewThreadWaitsForItsFirstCpu() {
        assertThat(recording.rows("""
                SELECT count(*), bool_and(dur_ns = runq_ns) FROM events WHERE kind = 'sched' AND state = 'started'
                AND tid IN (SELECT child_tid FROM events WHERE kind = 'process' AND name = 'thread')
                """)).containsExactly("3 true");
    }
}
