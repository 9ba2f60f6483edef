package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The recorder where it may use little memory.
class LittleMemoryIT {
    private static final long LIMIT = 200 << 20;
    private static final int CALLS_PER_SECOND = 50_000;
    private static final int SECONDS = 4;

    @TempDir
    private Path directory = Path.of("");

    private Path group = Path.of("");

    @BeforeEach
    void needs() {
        Needs.bpf();
        group = limitedGroup();
    }

    @AfterEach
    void removeGroup() throws IOException {
        Files.deleteIfExists(group);
    }

    @Test
    void inACgroupOf200MegabytesEverythingIsRecorded() throws IOException {
        Path file = directory.resolve("run.parquet");
        Path program = Programs.built("paced");
        long calls;
        try (Running job = Running.start(program.toString())) {
            job.awaitLine("ready");
            try (Running recorder = Recorder.recordTo(file, "-p", Long.toString(job.pid()))
                    .with("--probe", program + ":pace_me(number=arg1)")
                    .under("sh", "-c", "echo $$ > " + group.resolve("cgroup.procs") + " && exec \"$@\"", "sh")
                    .startRecording()) {
                job.say(CALLS_PER_SECOND + " " + SECONDS);
                calls = Long.parseLong(job.awaitLine("called").substring("called ".length()));
                recorder.signal("INT");
                assertThat(recorder.await().status()).isZero();
            }
        }
        try (Recording recording = Recording.open(file)) {
            long lost = recording.footer("zernel.probes").valueStream()
                    .filter(probe -> probe.path("symbol").asString("").equals("pace_me"))
                    .findFirst()
                    .orElseThrow()
                    .path("lost")
                    .asLong();
            assertThat(recording.number("SELECT count(*) FROM events WHERE name = 'pace_me'") + lost).isEqualTo(calls);
            assertThat(recording.number("SELECT count(*) FROM events WHERE name = 'pace_me'")).isGreaterThan(calls / 2);
        }
    }

    @Test
    void aHeapThatIsTooSmallIsSaidInALine() {
        Running.Outcome outcome = Recorder.recordTo(directory.resolve("run.parquet"), "-d", "5s", "--", "sleep", "1")
                .option("-Xmx20m")
                .run();

        assertThat(outcome.status()).as(outcome.toString()).isOne();
        assertThat(outcome.err()).anyMatch(line -> line.startsWith("zernel-record: recording: the recorder's memory is full"));
        assertThat(outcome.err()).noneMatch(line -> line.contains("\tat "));
    }

    /// A cgroup of our own with that limit, below the one that we are in.
    private static Path limitedGroup() {
        Path root = Path.of("/sys/fs/cgroup");
        boolean old = Files.isDirectory(root.resolve("memory"));
        try {
            Path parent = Files.readAllLines(Path.of("/proc/self/cgroup")).stream()
                    .filter(line -> line.contains(old ? ":memory:" : "0::"))
                    .map(line -> (old ? root.resolve("memory") : root).resolve(line.substring(line.lastIndexOf(':') + 2)))
                    .findFirst()
                    .orElse(root);
            Path group = Files.createDirectory(parent.resolve("zernel-test-" + ProcessHandle.current().pid()));
            try {
                Files.writeString(group.resolve(old ? "memory.limit_in_bytes" : "memory.max"), Long.toString(LIMIT));
            } catch (IOException e) {
                Files.delete(group);
                throw e;
            }
            return group;
        } catch (IOException e) {
            Needs.skip("no cgroup with a limit of memory can be made here: " + e);
            throw new AssertionError(e);
        }
    }
}
