package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Reads through io_uring of a program that knows their number and sizes.
class RingsIT {
    private static Truth truth = new Truth(List.of());
    private static Recording recording = Recording.none();
    private static String input = "";
    private static String other = "";

    @BeforeAll
    static void record(@TempDir Path directory) throws IOException {
        Needs.bpf();
        Path file = directory.resolve("run.parquet");
        input = Files.write(directory.resolve("input"), new byte[65536]).toRealPath().toString();
        other = Files.createFile(directory.resolve("other")).toRealPath().toString();
        truth = Truth.of(Recorder.recordTo(file, "--kinds", "io,process")
                .with("--", Programs.built("rings").toString(), input, other)
                .runWell()
                .out());
        boolean refused = truth.lines().stream().anyMatch(line -> line.path("case").asString("").equals("refused"));
        Assumptions.assumeFalse(refused, "needs a kernel that allows io_uring");
        recording = Recording.open(file);
    }

    @AfterAll
    static void close() {
        recording.close();
    }

    @Test
    void everyReadIsRecordedWithItsBytesAndFile() {
        assertThat(truth.of("reads").path("bytes").asLong()).isEqualTo(29_142);
        assertThat(recording.rows("""
                SELECT name, fd, bytes, status, count(*), path FROM events
                WHERE kind = 'io' AND name LIKE 'io_uring%' AND (fd IS NULL OR fd <> 702) GROUP BY ALL ORDER BY ALL
                """)).containsExactly(
                "io_uring_read 700 1000 0 20 " + input,
                "io_uring_read 701 null -9 1 null",
                "io_uring_read null 50 0 1 " + input,
                "io_uring_read_fixed 700 4096 0 2 " + input,
                "io_uring_readv 700 300 0 3 " + input);
    }

    @Test
    void aReadLastsUntilItsCompletion() {
        assertThat(truth.of("blocked").path("bytes").asLong()).isEqualTo(4);
        assertThat(recording.rows("SELECT name, bytes, path[:6] FROM events WHERE kind = 'io' AND fd = 702"))
                .containsExactly("io_uring_read 4 pipe:[");
        assertThat(recording.number("SELECT dur_ns FROM events WHERE kind = 'io' AND fd = 702"))
                .isBetween(50_000_000L, truth.of("blocked").path("outer_ns").asLong());
    }

    @Test
    void theThreadIsTheOneThatSubmitted() {
        assertThat(recording.rows("""
                SELECT DISTINCT tid = pid, comm FROM events WHERE kind = 'io' AND name LIKE 'io_uring%'
                """)).containsExactly("true rings");
    }

    @Test
    void aWriteIsNotTakenForAReadWithoutAResult() {
        assertThat(truth.of("skipped").path("status").asLong()).isZero();
        assertThat(truth.of("skipped").path("written").asLong()).isEqualTo(80);
        assertThat(recording.rows("SELECT name, fd, bytes FROM events WHERE name LIKE 'io_uring%' AND path = '" + other + "'"))
                .isEmpty();
    }
}
