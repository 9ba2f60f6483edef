package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Opens and reads of a running program that knows which file each of its descriptors is. On a busy machine storage may
/// deliver a page before the thread can wait for it.
@Tag("alone")
class FilesIT {
    private static Truth truth = new Truth(List.of());
    private static Recording recording = Recording.none();
    private static String folder = "";

    @BeforeAll
    static void record(@TempDir Path directory) throws IOException {
        Needs.bpf();
        Path file = directory.resolve("run.parquet");
        Path files = Files.createDirectory(directory.resolve("files")).toRealPath();
        folder = files.toString();
        try (Running program = Running.start(Programs.built("files").toString(), folder)) {
            program.awaitLine("ready");
            try (Running recorder =
                    Recorder.recordTo(file, "-p", Long.toString(program.pid())).startRecording()) {
                program.say("go");
                Running.Outcome outcome = program.await();
                assertThat(outcome.status()).as(outcome.toString()).isZero();
                truth = Truth.of(outcome.out());
                assertThat(recorder.await().status()).isZero();
            }
        }
        recording = Recording.open(file);
    }

    @AfterAll
    static void close() {
        recording.close();
    }

    private static List<String> reads(int descriptor) {
        return recording.rows("SELECT name, coalesce(bytes, status), path FROM events WHERE kind = 'io' AND fd = "
                        + descriptor + " ORDER BY ts_ns")
                .stream()
                .map(row -> row.replace(folder, "DIR"))
                .toList();
    }

    @Test
    void everyReadOfManyShortLivedFilesKnowsItsFile() {
        assertThat(recording.rows("""
                SELECT path, count(*), sum(bytes) FROM events
                WHERE kind = 'io' AND contains(path, '/many/') GROUP BY path ORDER BY path
                """)).containsExactlyElementsOf(
                IntStream.range(0, 300).mapToObj(i -> "%s/many/%03d 2 %d".formatted(folder, i, i + 1)).toList());
    }

    @Test
    void everyOpenIsRecordedOnce() {
        assertThat(recording.rows("""
                SELECT path, status, count(*), count(fd) FROM events
                WHERE kind = 'io_open' AND contains(path, '/many/') GROUP BY ALL ORDER BY path
                """)).containsExactlyElementsOf(
                IntStream.range(0, 300).mapToObj(i -> "%s/many/%03d 0 1 1".formatted(folder, i)).toList());
    }

    @Test
    void aFileOpenedBeforeTheRecordingHasItsPath() {
        assertThat(reads(700)).containsExactly("read 1000 DIR/before");
    }

    @Test
    void aDuplicateIsTheSameFileInAForkedChildToo() {
        assertThat(reads(701)).containsExactly("read 10 DIR/a", "read 5 DIR/a");
    }

    @Test
    void aDescriptorThatWasReusedIsTheNewFile() {
        long pipe = truth.of("pipe").path("inode").asLong();
        assertThat(reads(702)).containsExactly("read 3 DIR/a", "read 7 pipe:[" + pipe + "]");
    }

    @Test
    void whatIsInNoFolderIsNamedAsInProc() {
        long socket = truth.of("socket").path("inode").asLong();
        assertThat(reads(703)).containsExactly("read 5 socket:[" + socket + "] unix");
        assertThat(reads(704)).containsExactly("read 8 anon_inode:[eventfd]");
        assertThat(reads(705)).containsExactly("read 3 /memfd:z-memory");
    }

    @Test
    void relativePathsAndLinksAreResolved() {
        assertThat(reads(706)).containsExactly("read 50 DIR/sub/rel");
        assertThat(reads(707)).containsExactly("read 50 DIR/at");
        assertThat(reads(708)).containsExactly("read 50 DIR/a");
    }

    @Test
    void aRemovedFileKeepsItsPath() {
        assertThat(reads(709)).containsExactly("read 50 DIR/gone");
    }

    @Test
    void aPathTooLongForARecordKeepsItsEnd() {
        assertThat(reads(712)).hasSize(1);
        assertThat(reads(712).getFirst())
                .matches("read 0 \\.\\.\\./.*/k" + "d".repeat(99) + "/l" + "d".repeat(99) + "/leaf");
    }

    @Test
    void anOpenThatFoundNothingShowsWhatWasAsked() {
        assertThat(recording.rows("""
                SELECT status, path, fd FROM events WHERE kind = 'io_open' AND status <> 0 AND status <> -21 ORDER BY ts_ns
                """)).containsExactly(
                "-2 " + folder + "/none null", "-2 nowhere/x null", "-14 null null");
    }

    @Test
    void anOpenSaysWhetherTheFileIsToBeWritten() {
        assertThat(recording.rows("SELECT name, status, writable, path FROM events WHERE kind = 'io_open' "
                        + "AND contains(path, '/accesses') ORDER BY ts_ns"))
                .map(row -> row.replace(folder, "DIR"))
                .containsExactly(
                        "creat 0 1 DIR/accesses/creat",
                        "open 0 1 DIR/accesses/open",
                        "openat 0 1 DIR/accesses/openat",
                        "openat2 0 1 DIR/accesses/openat",
                        "openat 0 0 DIR/accesses/read",
                        "openat 0 0 DIR/accesses",
                        "openat -21 null DIR/accesses");
    }

    @Test
    void aColdReadShowsWhatThePageCacheDidNotHold() {
        long absent = truth.of("cold").path("absent_bytes").asLong();
        assertThat(recording.rows("""
                SELECT count(*), sum(bytes), sum(miss_bytes), sum(io_ns) > 0, bool_and(io_ns <= dur_ns)
                FROM events WHERE kind = 'io' AND fd = 710
                """)).containsExactly("65 4194304 " + absent + " " + (absent > 0) + " true");
    }

    @Test
    void aWarmReadMissesNothing() {
        assertThat(truth.of("warm").path("absent_bytes").asLong()).isZero();
        assertThat(recording.rows("""
                SELECT count(*), sum(bytes), sum(miss_bytes), sum(io_ns) FROM events WHERE kind = 'io' AND fd = 711
                """)).containsExactly("65 4194304 0 0");
    }

    @Test
    void aPageFaultThatWaitsForStorageIsAReadOfTheMappedFile() {
        assertThat(faults("mapped")).isEqualTo(truth.of("mapped").path("waits").asLong() + " true true true");
    }

    /// On an overlay only those do that are opened while it is recorded: what `maps` shows is not the inode that the fault tells.
    @Test
    void aFileMappedBeforeTheRecordingHasItsPath() throws IOException {
        assumeThat(Files.getFileStore(Path.of(folder)).type())
                .as("file system of the temporary folder")
                .isNotEqualTo("overlay");
        assertThat(faults("mapped-before"))
                .isEqualTo(truth.of("mapped-before").path("waits").asLong() + " true true true");
    }

    /// How many, whether each is of one page, and whether the times fit.
    private static String faults(String name) {
        return recording.value("""
                SELECT count(*), coalesce(bool_and(bytes = 4096 AND miss_bytes = 4096), true),
                    coalesce(bool_and(io_ns > 0 AND io_ns <= dur_ns), true), count(fd) = 0
                FROM events WHERE kind = 'io' AND name = 'page_fault' AND path = '%s/%s'
                """.formatted(folder, name));
    }

    @Test
    void blockedTimeOfReadsIsOffCpuTimeOfTheThread() {
        assertThat(recording.rows("""
                SELECT (SELECT sum(s.dur_ns - s.runq_ns) FROM events AS s WHERE s.kind = 'sched' AND s.state = 'io' AND EXISTS
                            (FROM events AS r WHERE r.kind = 'io' AND r.tid = s.tid AND s.ts_ns BETWEEN r.ts_ns AND r.ts_ns + r.dur_ns))
                    <= (SELECT sum(io_ns) FROM events WHERE kind = 'io')
                """)).containsExactly(truth.of("cold").path("absent_bytes").asLong() > 0 ? "true" : "null");
    }
}
