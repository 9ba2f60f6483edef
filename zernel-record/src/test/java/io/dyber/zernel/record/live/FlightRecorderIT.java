package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Only the last moments of a process are kept, and written when something happens.
@Tag("alone")
class FlightRecorderIT {
    private static final long SECOND = 1_000_000_000L;

    /// Calls a hundred times a second until it is told to end; a line on its input is a call that takes so many us.
    private static final String PROGRAM = """
            import ctypes, sys, threading, time
            libc = ctypes.CDLL('libc.so.6')
            ended = False
            def call():
                while not ended:
                    libc.usleep(10000)
            thread = threading.Thread(target=call)
            thread.start()
            for line in sys.stdin:
                libc.usleep(int(line))
                print('slept', flush=True)
            ended = True
            thread.join()
            """;

    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
    }

    private Running start(Running job, String... options) {
        return Recorder.recordTo(directory.resolve("run.parquet"), "-p", Long.toString(job.pid()))
                .with("--kinds", "call", "--probe", "libc.so.6:usleep(number=arg1)", "--flight-recorder", "4s")
                .with(options)
                .startRecording();
    }

    private static Running job() {
        return Running.start(Needs.python("ctypes"), "-c", PROGRAM);
    }

    private List<Path> files() {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(".parquet")).sorted().toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void eachSignalWritesTheLastSecondsAndSoDoesTheEnd() {
        try (Running job = job();
                Running recorder = start(job)) {
            Running.pause(7000);
            recorder.signal("USR1");
            recorder.awaitLine(": wrote ", 1);
            Running.pause(1500);
            recorder.signal("USR1");
            recorder.awaitLine(": wrote ", 2);
            recorder.signal("INT");
            assertThat(recorder.await().status()).isZero();
        }
        List<Path> files = files();
        assertThat(files).hasSize(3);
        assertHoldsTheLastSeconds(files.get(0), "requested");
        assertHoldsTheLastSeconds(files.get(1), "requested");
        assertHoldsTheLastSeconds(files.get(2), "signal");
        try (Recording second = Recording.open(files.get(1))) {
            assertThat(second.rows("SELECT name FROM events WHERE kind = 'mark'")).containsExactly("SIGUSR1", "SIGUSR1");
        }
    }

    /// The window and at most a slice more; the calls in it end within it.
    private static void assertHoldsTheLastSeconds(Path file, String stop) {
        try (Recording recording = Recording.open(file)) {
            JsonNode about = recording.footer("zernel.recording");
            long started = about.path("started_ns").asLong();
            long ended = about.path("ended_ns").asLong();
            assertThat(about.path("stop").asString()).isEqualTo(stop);
            assertThat(ended - started).isBetween(4 * SECOND, 6 * SECOND);
            assertThat(recording.number("SELECT min(ts_ns + dur_ns) FROM events WHERE name = 'usleep'"))
                    .isGreaterThan(started - SECOND);
            assertThat(recording.number("SELECT max(ts_ns + dur_ns) FROM events WHERE name = 'usleep'"))
                    .isBetween(ended - SECOND, ended);
            assertThat(about.path("events").asLong()).isEqualTo(recording.number("SELECT count(*) FROM events"));
            JsonNode probe = recording.footer("zernel.probes").path(0);
            assertThat(probe.path("events").asLong())
                    .isGreaterThan(100)
                    .isEqualTo(recording.number("SELECT count(*) FROM events WHERE name = 'usleep'"))
                    .isEqualTo(probe.path("entries").asLong()
                            + probe.path("open_before").asLong()
                            - probe.path("filtered").asLong()
                            - probe.path("lost").asLong()
                            - probe.path("open_after").asLong());
        }
    }

    @Test
    void aLongCallWritesOneFileThatSaysSo() {
        try (Running job = job();
                Running recorder = start(job, "--trigger", "usleep > 400ms")) {
            Running.pause(1000);
            job.say("500000");
            job.awaitLine("slept", 1);
            recorder.awaitLine(": wrote ", 1);
            job.say("450000");
            job.awaitLine("slept", 2);
            Running.pause(1000);
            assertThat(files()).hasSize(1);
            recorder.signal("INT");
            assertThat(recorder.await().status()).isZero();
        }
        try (Recording recording = Recording.open(files().getFirst())) {
            JsonNode about = recording.footer("zernel.recording");
            assertThat(about.path("stop").asString()).isEqualTo("triggered");
            assertThat(about.path("trigger").path("what").asString()).matches("usleep > 400ms: [5-9]\\d\\d ms");
            assertThat(recording.rows("""
                    SELECT mark.name, mark.ts_ns = call.ts_ns + call.dur_ns, mark.ts_ns
                    FROM events mark, events call WHERE mark.kind = 'mark' AND call.dur_ns > 400000000"""))
                    .containsExactly(about.path("trigger").path("what").asString() + " true "
                            + about.path("trigger").path("ts_ns").asLong());
        }
    }

    @Test
    void aKilledFlightRecorderLeavesTheLastSeconds() {
        try (Running job = job();
                Running recorder = start(job)) {
            Running.pause(6000);
            recorder.signal("KILL");
            recorder.await();
        }
        Running.Outcome _ = Recorder.zernelRecord("recover", directory.resolve("run.parquet").toString()).runWell();
        assertThat(files()).hasSize(1);
        try (Recording recording = Recording.open(files().getFirst())) {
            assertThat(recording.number("SELECT max(ts_ns + dur_ns) - min(ts_ns) FROM events WHERE name = 'usleep'"))
                    .isBetween(3 * SECOND, 6 * SECOND);
        }
    }
}
