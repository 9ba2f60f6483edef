package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// An untouched training of two ranks with DistributedDataParallel over gloo, against what the ranks count themselves.
class DistributedIT {
    private static Recording recording = Recording.none();
    private static long first;
    private static long second;

    @BeforeAll
    static void record(@TempDir Path directory) {
        Needs.bpf();
        String python = Needs.python("torch");
        Path file = directory.resolve("run.parquet");
        try (Running training = Running.start(python, Programs.source("ddp.py"))) {
            training.awaitLine("ready");
            try (Running recorder = Recorder.recordTo(file, "-p", Long.toString(training.pid())).startRecording()) {
                training.say("go");
                Running.Outcome trained = training.await();
                assertThat(trained.status()).as(trained.toString()).isZero();
                Truth truth = Truth.of(trained.out());
                first = pidOfRank(truth, 0);
                second = pidOfRank(truth, 1);
                assertThat(recorder.await().status()).isZero();
            }
        }
        recording = Recording.open(file);
    }

    private static long pidOfRank(Truth truth, int rank) {
        JsonNode line = truth.lines().get(rank);
        assertThat(line.path("rank").asInt()).isEqualTo(rank);
        assertThat(line.path("work_waits").asInt()).isEqualTo(41);
        return line.path("pid").asLong();
    }

    @AfterAll
    static void close() {
        recording.close();
    }

    @Test
    void bothRanksShowTheRegionsOfEveryStep() {
        for (long rank : new long[] {first, second}) {
            assertThat(recording.rows("""
                    SELECT name, count(*), count(dur_ns) FROM events WHERE kind = 'region' AND pid = %d
                        AND (name LIKE 'Distributed%%' OR name LIKE 'c10d%%') GROUP BY name ORDER BY name
                    """.formatted(rank))).containsExactly(
                    "DistributedDataParallel.forward 20 20",
                    "c10d::Reducer::all_reduce_bucket 20 20",
                    "c10d::Reducer::prepare_for_backward 20 20");
        }
    }

    /// The script waits 41 times, and DDP twice more when it rebuilds its buckets after the first step.
    @Test
    void everyWaitOfTheScriptAndOfEveryBackwardIsARow() {
        assertThat(waits(first))
                .containsExactly("Reducer::finalize_backward 20 20", "SendWork::wait 3 3", "Work::wait 43 43");
        assertThat(waits(second))
                .containsExactly("RecvWork::wait 3 3", "Reducer::finalize_backward 20 20", "Work::wait 43 43");
    }

    private static List<String> waits(long pid) {
        return recording.rows("""
                SELECT name, count(*), count(dur_ns) FROM events WHERE kind = 'dist_wait' AND depth = 0 AND tid = %d
                GROUP BY name ORDER BY name
                """.formatted(pid));
    }

    @Test
    void theRankThatComesFirstWaitsForTheOther() {
        String waits = "FROM events WHERE kind = 'dist_wait' AND depth = 0 AND name = 'Work::wait' AND pid = ";
        assertThat(recording.number("SELECT count(*) FILTER (dur_ns >= 30000000) " + waits + first))
                .isGreaterThanOrEqualTo(18);
        assertThat(recording.number("SELECT sum(dur_ns) " + waits + first))
                .isGreaterThan(recording.number("SELECT sum(dur_ns) " + waits + second));
    }

    @Test
    void waitsInsideWaitsAreMarked() {
        assertThat(recording.number("SELECT count(*) FROM events WHERE kind = 'dist_wait' AND depth IS NULL")).isZero();
        assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isTrue();
    }
}
