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

/// System calls in which a thread blocks, each once for 250 ms and once for nothing.
@Tag("alone")
class BlocksIT {
    private static final long LONG_WAIT = 249_000_000;

    private static Truth truth = new Truth(List.of());
    private static Recording recording = Recording.none();
    private static String folder = "";

    @BeforeAll
    static void record(@TempDir Path directory) throws IOException {
        Needs.bpf();
        Path file = directory.resolve("run.parquet");
        folder = Files.createDirectory(directory.resolve("files")).toRealPath().toString();
        truth = Truth.of(Recorder.recordTo(file, "--wait-min", "120ms")
                .with("--", Programs.built("blocks").toString(), folder)
                .runWell()
                .out());
        recording = Recording.open(file);
    }

    @AfterAll
    static void close() {
        recording.close();
    }

    private static String socket(String name, String protocol) {
        return "socket:[" + truth.of(name).path("inode").asLong() + "] " + protocol;
    }

    @Test
    void everyCallThatBlocksIsOneWait() {
        assertThat(recording.rows("""
                SELECT comm, name, status, replace(coalesce(object, '-'), '%s', 'DIR') FROM events
                WHERE kind = 'wait' AND comm LIKE 'z-%%' AND pid = (SELECT min(pid) FROM events WHERE comm = 'blocks')
                    AND name NOT IN ('connect', 'recvmsg') ORDER BY comm, name
                """.formatted(folder))).containsExactly(
                "z-accept accept 0 " + socket("accept", "tcp"),
                "z-clock_nano clock_nanosleep 0 -",
                "z-fcntl fcntl 0 DIR/lock",
                "z-flock flock 0 DIR/lock",
                "z-io_getevents io_getevents 0 -",
                "z-msgrcv msgrcv 0 -",
                "z-nanosleep nanosleep 0 -",
                "z-pause pause -4 -",
                "z-recvfrom recvfrom 0 " + socket("recvfrom", "unix"),
                "z-semtimedop semtimedop -11 -",
                "z-sendto sendto 0 " + socket("sendto", "unix"),
                "z-sigsuspend rt_sigsuspend -4 -",
                "z-sigtimed rt_sigtimedwait -11 -",
                "z-wait4 wait4 0 -",
                "z-waitid waitid 0 -");
    }

    @Test
    void aSocketSaysItsProtocol() {
        assertThat(recording.rows("""
                SELECT comm, name, status, regexp_replace(object, '\\d+', 'N') FROM events
                WHERE kind = 'wait' AND name IN ('connect', 'recvmsg') AND comm LIKE 'z-%' ORDER BY comm
                """)).containsExactly("z-connect connect 0 socket:[N] unix", "z-recvmsg recvmsg 0 socket:[N] tcp");
    }

    @Test
    void aWaitLastsAsLongAsItTook() {
        assertThat(recording.number("SELECT min(dur_ns) FROM events WHERE kind = 'wait' AND comm LIKE 'z-%'"))
                .isGreaterThanOrEqualTo(LONG_WAIT);
    }

    @Test
    void onlyTheOneThatWasWokenByAThreadHasAWaker() {
        assertThat(recording.rows("""
                SELECT comm FROM events WHERE kind = 'sched' AND comm LIKE 'z-%' AND dur_ns >= 200000000
                    AND waker_tid = (SELECT min(tid) FROM events WHERE comm = 'blocks') ORDER BY comm
                """))
                .as(() -> "of " + recording.rows("""
                        SELECT comm || ' ' || dur_ns || ' ns by ' || coalesce(waker_tid::VARCHAR, 'nobody') FROM events
                        WHERE kind = 'sched' AND (comm LIKE 'z-%' OR comm = 'blocks') ORDER BY ts_ns
                        """))
                .containsExactly(
                "z-connect", "z-fcntl", "z-flock", "z-msgrcv", "z-pause", "z-recvfrom", "z-sendto", "z-sigsuspend");
    }
}
