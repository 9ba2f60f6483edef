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

/// Reads and waits of a program that knows their number, sizes and lengths. Waits under 30 ms are left out.
@Tag("alone")
class SystemCallsIT {
    private static final long LONG_WAIT = 250_000_000;

    private static Truth truth = new Truth(List.of());
    private static Recording recording = Recording.none();

    @BeforeAll
    static void record(@TempDir Path directory) throws IOException {
        Needs.bpf();
        Path file = directory.resolve("run.parquet");
        Path input = Files.write(directory.resolve("input"), new byte[65536]);
        truth = Truth.of(Recorder.recordTo(file, "--wait-min", "120ms")
                .with("--", Programs.built("waits").toString(), input.toString())
                .runWell()
                .out());
        recording = Recording.open(file);
    }

    @AfterAll
    static void close() {
        recording.close();
    }

    @Test
    void everyReadIsRecordedWithItsBytes() {
        assertThat(truth.of("reads").path("bytes").asLong()).isEqualTo(44_600);
        assertThat(recording.rows("""
                SELECT name, fd, bytes, status, count(*) FROM events WHERE kind = 'io' AND fd IN (700, 701)
                GROUP BY ALL ORDER BY ALL
                """)).containsExactly(
                "pread64 700 1000 0 3",
                "pread64 700 null -22 1",
                "preadv 700 30 0 1",
                "preadv2 700 10 0 1",
                "read 700 0 0 1",
                "read 700 4096 0 10",
                "read 701 null -9 1",
                "readv 700 300 0 2");
    }

    @Test
    void theTimeBlockedInAReadIsItsDuration() {
        List<String> read = recording.rows("SELECT name, bytes, dur_ns FROM events WHERE kind = 'io' AND fd = 702");
        assertThat(read).hasSize(1);
        assertThat(read.getFirst()).startsWith("read 4 ");
        assertThat(Long.parseLong(read.getFirst().substring(7)))
                .isBetween(LONG_WAIT, truth.of("blocked-read").path("outer_ns").asLong());
    }

    @Test
    void onlyWaitsOfAtLeastTheThresholdAreRecorded() {
        assertThat(recording.rows("""
                SELECT comm, name, status, object, count(*), count(addr), count(DISTINCT fd) FROM events
                WHERE kind = 'wait' AND comm LIKE 'z-%' AND (comm <> 'z-ready' OR name = 'poll')
                GROUP BY ALL ORDER BY comm
                """)).containsExactly(
                "z-epoll epoll_wait 0 anon_inode:[eventpoll] 5 0 1",
                "z-futex futex -110 futex 5 5 0",
                "z-poll poll 0 anon_inode:[eventfd] 5 0 1",
                "z-ready poll 0 pipe:[" + truth.of("pipe").path("inode").asLong() + "] 5 0 1",
                "z-sem futex -110 futex 5 5 0");
    }

    @Test
    void aWaitLastsAsLongAsTheProgramSaw() {
        for (String comm : List.of("z-epoll", "z-futex", "z-poll", "z-sem")) {
            List<Long> outer = Truth.longs(truth.of(comm).path("outer_ns"));
            List<Long> recorded = recording.numbers(
                    "SELECT dur_ns FROM events WHERE kind = 'wait' AND comm = '" + comm + "' ORDER BY ts_ns");
            assertThat(recorded).hasSize(5);
            for (int i = 0; i < 5; i++) {
                assertThat(recorded.get(i)).as("%s %d", comm, i).isBetween(LONG_WAIT, outer.get(i));
            }
        }
    }
}
