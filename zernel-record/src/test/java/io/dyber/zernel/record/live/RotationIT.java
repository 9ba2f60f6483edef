package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// A series of files of a process that goes on calling while one file ends and the next begins.
class RotationIT {
    /// Two threads call without end, a third is in a call that lasts longer than a file.
    private static final String PROGRAM = """
            import ctypes, sys, threading, time
            calls, libc = ctypes.CDLL(sys.argv[1]), ctypes.CDLL('libc.so.6')
            end = time.monotonic() + float(sys.argv[2])
            done = [0, 0]
            def call(thread):
                while time.monotonic() < end:
                    for number in range(50):
                        calls.calls_marker(number)
                    done[thread] += 50
                    time.sleep(0.002)
            threads = [threading.Thread(target=call, args=(i,)) for i in range(2)]
            threads.append(threading.Thread(target=lambda: libc.usleep(int(float(sys.argv[2]) * 6e5))))
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
            print(sum(done))
            """;

    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
    }

    private Running.Outcome record(double seconds, String... options) {
        String python = Needs.python("ctypes");
        Path library = Programs.built("libcalls.so");
        return Recorder.recordTo(directory.resolve("run.parquet"), "--kinds", "call,process")
                .with("--probe", library + ":calls_marker(number=arg1)", "--probe", "libc.so.6:usleep(number=arg1)")
                .with(options)
                .with("--", python, "-c", PROGRAM, library.toString(), Double.toString(seconds))
                .runWell();
    }

    private List<Path> files() {
        try (Stream<Path> files = Files.list(directory)) {
            return files.sorted().toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void everyCallIsInOneFileAndTheCountersOfEachClose() {
        Running.Outcome outcome = record(7, "--rotate", "2s");
        long called = Long.parseLong(outcome.out().getFirst());

        List<Path> files = files();
        assertThat(files).hasSizeGreaterThan(2).allSatisfy(file ->
                assertThat(file.getFileName().toString()).matches("run-\\d{8}T\\d{6}Z\\.parquet"));
        long events = 0;
        long lost = 0;
        long open = 0;
        String id = "";
        for (int i = 0; i < files.size(); i++) {
            try (Recording part = Recording.open(files.get(i))) {
                JsonNode about = part.footer("zernel.recording");
                boolean last = i == files.size() - 1;
                assertThat(about.path("stop").asString()).isEqualTo(last ? "command-exited" : "rotated");
                assertThat(about.path("events").asLong()).isEqualTo(part.number("SELECT count(*) FROM events"));
                assertThat(about.path("series").path("part").asInt()).isEqualTo(i + 1);
                assertThat(about.path("series").path("id").asString()).isEqualTo(i == 0 ? about.path("series").path("id").asString() : id);
                id = about.path("series").path("id").asString();
                JsonNode marker = probe(part, "calls_marker");
                assertThat(marker.path("open_before").asLong()).isEqualTo(open).isNotNegative();
                open = marker.path("open_after").asLong();
                assertCloses(marker);
                assertCloses(probe(part, "usleep"));
                assertThat(marker.path("events").asLong())
                        .isPositive()
                        .isEqualTo(part.number("SELECT count(*) FROM events WHERE name = 'calls_marker'"));
                events += marker.path("events").asLong();
                lost += marker.path("lost").asLong();
                assertThat(part.number("SELECT coalesce(sum(count), 0) FROM events WHERE kind = 'lost'"))
                        .isEqualTo(part.footer("zernel.losses").path("total").asLong());
            }
        }
        assertThat(open).isZero();
        assertThat(events + lost).isEqualTo(called);
        try (Recording series = Recording.open(directory.resolve("run-*.parquet"))) {
            assertThat(series.number("SELECT count(*) FROM events WHERE name = 'calls_marker'")).isEqualTo(events);
            assertThat(series.rows("SELECT dur_ns // 1000000000 FROM events WHERE name = 'usleep'")).containsExactly("4");
        }
    }

    @Test
    void aCallThatIsOpenAtABorderIsInTheFileInWhichItEnds() {
        Running.Outcome _ = record(5, "--rotate", "1s");
        List<Path> files = files();
        int in = 0;
        for (int i = 0; i < files.size(); i++) {
            try (Recording part = Recording.open(files.get(i))) {
                long rows = part.number("SELECT count(*) FROM events WHERE name = 'usleep'");
                if (rows == 1) {
                    in = i;
                    assertThat(part.number("SELECT ts_ns FROM events WHERE name = 'usleep'"))
                            .isLessThan(part.footer("zernel.recording").path("started_ns").asLong());
                    assertThat(probe(part, "usleep").path("open_before").asLong()).isEqualTo(1);
                }
            }
        }
        assertThat(in).isPositive();
    }

    @Test
    void theOldestFilesGo() {
        Path library = Programs.built("libcalls.so");
        try (Running job = Running.start(Needs.python("ctypes"), "-c", PROGRAM, library.toString(), "60");
                Running recorder = Recorder.recordTo(
                                directory.resolve("run.parquet"), "-p", Long.toString(job.pid()), "--kinds", "call")
                        .with("--probe", library + ":calls_marker(number=arg1)", "--rotate", "1s", "--keep", "2")
                        .startRecording()) {
            String fourth = recorder.awaitLine(": wrote ", 4);
            recorder.signal("INT");
            assertThat(recorder.await().status()).isZero();
            assertThat(files()).hasSize(2).allSatisfy(file ->
                    assertThat(fourth.substring(fourth.indexOf('/'))).isLessThanOrEqualTo(file.toString()));
        }
    }

    private static JsonNode probe(Recording part, String symbol) {
        return part.footer("zernel.probes").valueStream()
                .filter(probe -> probe.path("symbol").asString("").equals(symbol))
                .findFirst()
                .orElseThrow();
    }

    /// What came in and what went out, with what was on the way at both ends.
    private static void assertCloses(JsonNode probe) {
        assertThat(probe.path("entries").asLong() + probe.path("open_before").asLong())
                .as(probe.toString())
                .isEqualTo(probe.path("filtered").asLong()
                        + probe.path("sampled_out").asLong()
                        + probe.path("covered").asLong()
                        + probe.path("lost").asLong()
                        + probe.path("events").asLong()
                        + probe.path("open_after").asLong());
        assertThat(probe.path("open_after").asLong()).isNotNegative();
    }
}
