package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Writes, flushes and renames of a program that knows their number and sizes. Only writes of 120 ms take long.
@Tag("alone")
class WritesIT {
    private static final long LONG_WAIT = 250_000_000;

    private static Truth truth = new Truth(List.of());
    private static Recording recording = Recording.none();
    private static String folder = "";

    @BeforeAll
    static void record(@TempDir Path directory) throws IOException {
        Needs.bpf();
        Path file = directory.resolve("run.parquet");
        folder = Files.createDirectory(directory.resolve("files")).toRealPath().toString();
        truth = Truth.of(Recorder.recordTo(file, "--wait-min", "120ms")
                .with("--", Programs.built("writes").toString(), folder)
                .runWell()
                .out());
        recording = Recording.open(file);
    }

    @AfterAll
    static void close() {
        recording.close();
    }

    private static List<String> rows(String condition) {
        return recording.rows("""
                SELECT name, bytes, status, replace(path, '%s', 'DIR'), count(*) FROM events
                WHERE kind = 'io' AND comm = 'writes' AND %s GROUP BY ALL ORDER BY ALL
                """.formatted(folder, condition));
    }

    @Test
    void everyLargeWriteToAFileIsRecordedWithItsBytes() {
        assertThat(rows("fd = 700 AND bytes > 0")).containsExactly(
                "pwrite64 6000 0 DIR/out 1",
                "pwritev 4096 0 DIR/out 1",
                "pwritev2 4096 0 DIR/out 1",
                "write 8192 0 DIR/out 3",
                "writev 5000 0 DIR/out 1");
    }

    @Test
    void bytesThatTheKernelCopiesAreWrittenWhereTheyGo() {
        assertThat(rows("fd = 701 AND bytes > 0"))
                .containsExactly("copy_file_range 7000 0 DIR/copy 1", "sendfile 9000 0 DIR/copy 1");
    }

    @Test
    void whatFlushesAndResizesMovesNoBytes() {
        assertThat(rows("bytes IS NULL AND fd IN (700, 701)")).containsExactly(
                "fallocate null 0 DIR/copy 1",
                "fdatasync null 0 DIR/out 1",
                "fsync null 0 DIR/out 1",
                "ftruncate null 0 DIR/copy 1",
                "sync_file_range null 0 DIR/out 1",
                "syncfs null 0 DIR/out 1");
        assertThat(rows("name = 'msync'")).containsExactly("msync null 0 null 1");
    }

    @Test
    void aFlushIsBlockedOnStorage() {
        // The little that is dirty may be written before one of them has to wait.
        assertThat(recording.rows("""
                SELECT sum(io_ns) > 0, bool_and(io_ns <= dur_ns), count(miss_bytes) FROM events
                WHERE kind = 'io' AND fd = 700 AND name IN ('fsync', 'fdatasync', 'syncfs')
                """)).containsExactly("true true 0");
    }

    @Test
    void aFileIsRenamedToAPath() {
        assertThat(rows("starts_with(name, 'rename')")).containsExactly(
                "rename null -2 d 1", "rename null 0 a 1", "renameat null 0 b 1", "renameat2 null 0 c 1");
    }

    @Test
    void aWriteThatIsRefusedIsRecorded() {
        assertThat(rows("fd = 702")).containsExactly("write null -9 DIR/out 1");
    }

    @Test
    void aWriteToAPipeIsRecordedWhenItTakesLong() {
        assertThat(rows("fd IN (703, 705)"))
                .containsExactly("write 1 0 pipe:[" + truth.of("pipe").path("inode").asLong() + "] 1");
        assertThat(recording.number("SELECT dur_ns FROM events WHERE kind = 'io' AND fd = 705"))
                .isGreaterThanOrEqualTo(LONG_WAIT);
    }

    /// 20 lines of a log and four writes to pipes; the program prints too.
    @Test
    void quickSmallWritesAreCounted() {
        JsonNode io = recording.footer("zernel.kinds").valueStream()
                .filter(kind -> kind.path("kind").asString().equals("io"))
                .findFirst()
                .orElseThrow();
        assertThat(io.path("filtered").asLong()).isGreaterThanOrEqualTo(24);
        assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isTrue();
    }
}
