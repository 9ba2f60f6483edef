package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.record.option.Progress;
import io.dyber.zernel.record.option.RecordOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Marks from the command line and from a program, in recordings that are running.
class MarkIT {
    /// The start of a process is known to a hundredth of a second.
    private static final long CLOCK_ERROR_NANOS = 15_000_000;

    /// What is recorded: a process that does nothing.
    @SuppressWarnings("NullAway.Init") // before all tests
    private static Running asleep;

    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void start() {
        Needs.bpf();
        asleep = Running.start("sleep", "600");
    }

    @AfterAll
    static void end() {
        asleep.close();
    }

    private Recorder recordTo(String name, String... arguments) {
        return Recorder.recordTo(directory.resolve(name), arguments)
                .property("zernel.run", directory.resolve("run").toString());
    }

    private Recorder mark(String... arguments) {
        return Recorder.zernelRecord("mark").with(arguments).property("zernel.run", directory.resolve("run").toString());
    }

    @Test
    void aMarkIsInBothRunningRecordingsAtTheTimeOfTheCall() {
        try (Running first = recordTo("a.parquet", "-p", Long.toString(asleep.pid())).startRecording();
                Running second = recordTo("b.parquet", "-p", Long.toString(asleep.pid()), "--kinds", "io").startRecording()) {
            long before = System.nanoTime();
            // The command needs a second to come to itself, as a JVM on a busy machine may.
            Running.Outcome outcome = mark("loss = NaN").under("sh", "-c", "sleep 1; exec \"$@\"", "sh").run();
            long after = System.nanoTime();
            assertThat(outcome.status()).as(outcome.toString()).isZero();
            assertThat(outcome.err()).isEmpty();
            assertThat(outcome.out()).hasSize(3);
            assertThat(outcome.out().getFirst()).isEqualTo("marked 'loss = NaN' in 2 recordings");
            assertThat(outcome.out().subList(1, 3))
                    .anyMatch(line -> line.matches("  " + directory + "/a\\.parquet at \\d+\\.\\d{3} s"))
                    .anyMatch(line -> line.matches("  " + directory + "/b\\.parquet at \\d+\\.\\d{3} s"));
            for (Running recorder : List.of(first, second)) {
                recorder.signal("INT");
                assertThat(recorder.await().status()).isZero();
            }
            assertMarked("a.parquet", before, after);
            assertMarked("b.parquet", before, after);
            assertThat(directory.resolve("run")).isEmptyDirectory();
        }
    }

    /// @param before as CLOCK_MONOTONIC says, which `System.nanoTime()` is
    private void assertMarked(String file, long before, long after) {
        try (Recording recording = Recording.open(directory.resolve(file))) {
            assertThat(recording.rows("""
                    SELECT name, comm, pid IS NOT NULL, tid != pid, dur_ns FROM events WHERE kind = 'mark'
                    """)).containsExactly("loss = NaN java true true null");
            // Not by the time of day, which is adjusted all the time.
            long offset = recording.footer("zernel.clock").path("offset_ns").asLong();
            assertThat(recording.number("SELECT ts_ns FROM events WHERE kind = 'mark'") - offset)
                    .isBetween(before - CLOCK_ERROR_NANOS, after - 1_000_000_000L);
            JsonNode kind = recording.footer("zernel.kinds").valueStream()
                    .filter(row -> row.path("kind").asString().equals("mark"))
                    .findFirst()
                    .orElseThrow();
            assertThat(kind.path("state").asString() + " " + kind.path("events").asLong()).isEqualTo("attached 1");
        }
    }

    @Test
    void theRecordingsAreListedAsJson() {
        try (Running recorder = recordTo("a.parquet", "-p", Long.toString(asleep.pid())).startRecording()) {
            Running.Outcome outcome = mark("--json", "x").runWell();
            JsonNode taken = JsonMapper.shared().readTree(String.join("\n", outcome.out()));
            assertThat(taken.size()).isEqualTo(1);
            assertThat(taken.path(0).path("output").asString()).isEqualTo(directory + "/a.parquet");
            assertThat(taken.path(0).path("nanos").asLong()).isPositive();
            assertThat(recorder.isAlive()).isTrue();
        }
    }

    @Test
    void theTextIsWhatWasTypedInAnyLocale() {
        try (Running recorder = recordTo("a.parquet", "-p", Long.toString(asleep.pid())).startRecording()) {
            Running.Outcome outcome = mark("--json")
                    .environment("LC_ALL", "C")
                    .under("sh", "-c", "exec \"$@\" \"$(printf 'gr\\303\\266\\303\\237e')\"", "sh")
                    .run();
            assertThat(outcome.status()).as(outcome.toString()).isZero();
            recorder.signal("INT");
            assertThat(recorder.await().status()).isZero();
        }
        try (Recording recording = Recording.open(directory.resolve("a.parquet"))) {
            assertThat(recording.rows("SELECT name FROM events WHERE kind = 'mark'")).containsExactly("gr\u00f6\u00dfe");
        }
    }

    @Test
    void withoutARecordingAMarkIsAnError() {
        Running.Outcome outcome = mark("nobody listens").run();
        CommandLineTest.assertOneLine(outcome, "marking 'nobody listens': no recording is running");
        assertThat(outcome.err().getLast()).isEqualTo("hint: start one: sudo zernel-record -o run.parquet");
    }

    @Test
    void aTextThatIsTooLongIsWrongUsage() {
        Running.Outcome outcome = mark("x".repeat(1025)).run();
        assertThat(outcome.status()).isEqualTo(2);
        assertThat(outcome.err().getFirst()).contains("1025 bytes").contains("1024");
    }

    @Test
    void aRecorderThatWasKilledIsNotCounted() throws IOException {
        try (Running recorder = recordTo("a.parquet", "-p", Long.toString(asleep.pid())).startRecording()) {
            recorder.signal("KILL");
            recorder.await();
            CommandLineTest.assertOneLine(mark("x").run(), "no recording is running");
            assertThat(directory.resolve("run")).isEmptyDirectory();
        }
    }

    @Test
    void underSudoTheSocketIsTheUsers() throws IOException {
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
        try (Running _ = recordTo("a.parquet", "-p", Long.toString(asleep.pid()))
                        .environment("SUDO_UID", "65534")
                        .environment("SUDO_GID", "65534")
                        .startRecording();
                Stream<Path> sockets = Files.list(directory.resolve("run"))) {
            Path socket = sockets.findFirst().orElseThrow();
            assertThat(Files.getAttribute(socket, "unix:uid")).isEqualTo(65534);
            assertThat(Files.getAttribute(socket, "unix:gid")).isEqualTo(65534);
            assertThat((int) Files.getAttribute(socket, "unix:mode") & 0777).isEqualTo(0600);
        }
    }

    @Test
    void aProgramMarksItsOwnRecording() throws InterruptedException {
        System.setProperty("zernel.run", directory.resolve("run").toString());
        Path file = directory.resolve("own.parquet");
        MarkAtStart progress = new MarkAtStart();
        io.dyber.zernel.record.Recorder recorder = new io.dyber.zernel.record.Recorder(
                RecordOptions.to(file).attachedTo(Set.of(1)), progress);
        progress.recorder = recorder;
        assertThatThrownBy(() -> recorder.mark("too early"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("marking 'too early': the recording has not begun");
        recorder.record();
        assertThatThrownBy(() -> recorder.mark("too late"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the recording of '" + file + "' has ended");
        System.clearProperty("zernel.run");
        try (Recording recording = Recording.open(file)) {
            assertThat(recording.rows("SELECT name, pid FROM events WHERE kind = 'mark' ORDER BY ts_ns"))
                    .containsExactly(
                            "begun " + ProcessHandle.current().pid(), "going on " + ProcessHandle.current().pid());
        }
    }

    /// Marks when it hears of the recording, and ends it then.
    private static final class MarkAtStart implements Progress {
        private io.dyber.zernel.record.@org.jspecify.annotations.Nullable Recorder recorder;

        private io.dyber.zernel.record.Recorder recorder() {
            if (recorder == null) {
                throw new AssertionError("no recorder");
            }
            return recorder;
        }

        @Override
        public void started(Started started) {
            recorder().mark("begun");
        }

        @Override
        public void going(Status status) {
            recorder().mark("going on");
            recorder().stop("signal");
        }

        @Override
        public void notice(String line) {}
    }
}
