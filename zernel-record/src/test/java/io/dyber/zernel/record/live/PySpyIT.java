package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.dyber.zernel.record.python.Pythons;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Stacks of threads that are blocked, held against what py-spy says of the same threads at a moment while they are.
class PySpyIT {
    private static final int DUMPS = 5;

    @TempDir
    private Path directory = Path.of("");

    /// The threads of a process, and when py-spy began and ended to look at them: nanoseconds of CLOCK_MONOTONIC.
    private record Dump(long startNanos, long endNanos, JsonNode threads) {}

    @Test
    void framesAreThoseThatPySpySees() throws IOException {
        Needs.bpf();
        Optional<Path> pySpy = pySpy();
        if (pySpy.isEmpty()) {
            System.out.println("skipped: needs py-spy (pip install py-spy), in PATH or beside the Python of ZERNEL_PYTHON");
        }
        assumeThat(pySpy).isPresent();
        Path file = directory.resolve("run.parquet");
        List<Dump> dumps = new ArrayList<>();
        List<Running> programs = new ArrayList<>();
        try {
            Recorder recorder = Recorder.recordTo(file, "--kinds", "wait,io,process");
            for (Path python : Pythons.all()) {
                Running program = Running.start(python.toString(), Programs.source("sleepers.py"));
                programs.add(program);
                program.awaitLine("ready");
                recorder = recorder.with("-p", Long.toString(program.pid()));
            }
            try (Running recording = recorder.startRecording()) {
                Running.pause(500);
                for (int i = 0; i < DUMPS; i++) {
                    for (Running program : programs) {
                        dumps.add(dump(pySpy.orElseThrow(), program.pid()));
                    }
                }
                Running.pause(500);
                programs.forEach(program -> program.say("end"));
                assertThat(recording.await().status()).isZero();
            }
        } finally {
            programs.forEach(Running::close);
        }
        compare(file, dumps);
    }

    private static void compare(Path file, List<Dump> dumps) {
        int compared = 0;
        List<String> different = new ArrayList<>();
        try (Recording recording = Recording.open(file)) {
            long offset = recording.footer("zernel.clock").path("offset_ns").asLong();
            for (Dump dump : dumps) {
                for (JsonNode thread : dump.threads()) {
                    Optional<String> found = stack(recording, thread, dump, offset);
                    if (found.isPresent()) {
                        compared++;
                        if (!found.get().equals(seen(thread))) {
                            different.add(found.get() + "\n  instead of " + seen(thread));
                        }
                    }
                }
            }
        }
        assertThat(compared).isGreaterThanOrEqualTo(3 * DUMPS);
        assertThat(100 * different.size()).as("of %d: %s", compared, different).isLessThanOrEqualTo(compared);
    }

    /// Python's frames of the event that the thread was in all that time.
    private static Optional<String> stack(Recording recording, JsonNode thread, Dump dump, long offset) {
        return recording.rows("""
                SELECT stack FROM events WHERE kind IN ('wait', 'io') AND tid = %d AND ts_ns <= %d AND ts_ns + dur_ns >= %d
                """.formatted(thread.path("os_thread_id").asLong(), dump.startNanos() + offset, dump.endNanos() + offset))
                .stream()
                .map(stack -> Arrays.stream(stack.split(";"))
                        .filter(frame -> !frame.matches(".* \\([^:]*\\)|\\[lib.*]"))
                        .collect(Collectors.joining(";")))
                .findFirst();
    }

    private static String seen(JsonNode thread) {
        List<String> frames = new ArrayList<>();
        for (JsonNode frame : thread.path("frames")) {
            frames.addFirst("%s (%s:%d)".formatted(
                    frame.path("name").asString(), frame.path("filename").asString(), frame.path("line").asInt()));
        }
        return String.join(";", frames);
    }

    private static Dump dump(Path pySpy, long pid) {
        for (int attempt = 1; ; attempt++) {
            long start = System.nanoTime();
            Running.Outcome outcome =
                    Running.start(pySpy.toString(), "dump", "--nonblocking", "--json", "--pid", Long.toString(pid)).await();
            long end = System.nanoTime();
            // It fails where it finds a thread on its way from one frame to the next.
            if (outcome.status() == 0 || attempt == 5) {
                assertThat(outcome.status()).as(outcome.toString()).isZero();
                return new Dump(start, end, JsonMapper.shared().readTree(String.join("\n", outcome.out())));
            }
        }
    }

    private static Optional<Path> pySpy() {
        Stream<Path> folders = Arrays.stream(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)).map(Path::of);
        Stream<Path> beside = Optional.ofNullable(System.getenv("ZERNEL_PYTHON")).map(Path::of).map(Path::getParent).stream();
        return Stream.concat(beside, folders)
                .map(folder -> folder.resolve("py-spy"))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
