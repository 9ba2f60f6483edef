package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.dyber.zernel.record.python.Pythons;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Stacks of Python programs of each version, held against what the interpreter itself says of its frames.
class WhichLineIT {
    /// What `burns.py` does, by the names of its functions.
    private static final String POSSIBLE = "<module>;deep;rounds(;one(;spin)?|;generated(;<genexpr>)?"
            + "|;__call__(;forward(;<listcomp>)?(;two(;spin)?)?)?|;ordered(;<lambda>(;spin)?)?)?";

    private static final int MOST_FRAMES = 128;

    @TempDir
    private Path directory = Path.of("");

    static List<Path> pythons() throws IOException {
        return Pythons.all();
    }

    /// Threads that block at known lines: in locks, queues, sockets, pipes and child processes, in generators, coroutines,
    /// callbacks from C, code of `exec` and a recursion 1,000 deep; then the process executes the program anew.
    @ParameterizedTest
    @MethodSource("pythons")
    void theStackOfEachBlockedCallIsThatOfTheInterpreter(Path python) {
        Needs.bpf();
        Path file = directory.resolve("run.parquet");
        List<JsonNode> told;
        try (Running program = Running.start(python.toString(), Programs.source("which_line.py"), "exec")) {
            program.awaitLine("ready");
            Recorder recorder = Recorder.recordTo(
                    file, "-p", Long.toString(program.pid()), "--kinds", "wait,io,process,sample");
            try (Running recording = recorder.startRecording()) {
                program.say("go");
                Running.Outcome outcome = program.await();
                assertThat(outcome.status()).as(outcome.toString()).isZero();
                told = Truth.of(outcome.out()).lines();
                assertThat(recording.await().status()).isZero();
            }
        }
        assertThat(told.stream().filter(line -> line.path("call").asString().equals("done"))).hasSize(2);
        try (Recording recording = Recording.open(file)) {
            long offset = recording.footer("zernel.clock").path("offset_ns").asLong();
            List<String> wrong = new ArrayList<>();
            int ready = 0;
            for (JsonNode call : told) {
                if (call.has("frames")) {
                    Optional<String> found = stack(recording, call, offset);
                    if (found.isEmpty()) {
                        ready++;
                    } else if (!found.get().equals(expected(call))) {
                        wrong.add(call.path("call").asString() + ": " + found.get() + "\n  instead of " + expected(call));
                    }
                }
            }
            assertThat(wrong).as(told.size() + " calls").isEmpty();
            assertThat(ready).as("calls of " + told.size() + " that found ready what they waited for").isLessThan(told.size() / 10);
            assertThat(recording.footer("zernel.stacks").path("over_budget").asLong()).isZero();
        }
    }

    /// Its stack is taken before the wait, as another thread runs when that ends.
    @Tag("alone")
    @Test
    void aPageFaultThatWaitsHasTheStackOfItsLine() throws IOException {
        Needs.bpf();
        Path files = Files.createDirectory(directory.resolve("files")).toRealPath();
        holdsTheFaultsOf(files, files);
    }

    /// Containers have their files on an overlay: those of an image lie in a lower layer. The kernel's page fault names the inode
    /// of that, which is not the one that the program opened.
    @Tag("alone")
    @Test
    void aPageFaultOnAnOverlayHasThePathThatTheProgramSees() throws IOException {
        Needs.bpf();
        Path lower = Files.createDirectory(directory.resolve("lower"));
        Path empty = Files.createDirectory(directory.resolve("empty"));
        Path seen = Files.createDirectory(directory.resolve("seen")).toRealPath();
        assumeThat(run("mount", "-t", "overlay", "-o", "lowerdir=%s:%s".formatted(lower, empty), "overlay", seen.toString()))
                .as("needs to mount an overlay")
                .isZero();
        try {
            holdsTheFaultsOf(lower, seen);
        } finally {
            assertThat(run("umount", seen.toString())).isZero();
        }
    }

    private static int run(String... command) {
        try (Running running = Running.start(command)) {
            return running.await().status();
        }
    }

    private void holdsTheFaultsOf(Path made, Path files) throws IOException {
        Path file = directory.resolve("run.parquet");
        JsonNode told;
        Running.Outcome recorded;
        try (Running program = Running.start(Needs.python("mmap"), Programs.source("mapped.py"), made.toString(), files.toString())) {
            program.awaitLine("ready");
            Recorder recorder = Recorder.recordTo(
                    file, "-p", Long.toString(program.pid()), "--kinds", "io,sched", "--stacks", "1us");
            try (Running recording = recorder.startRecording()) {
                program.say("go");
                Running.Outcome outcome = program.await();
                assertThat(outcome.status()).as(outcome.toString()).isZero();
                told = Truth.of(outcome.out()).lines().getLast();
                recorded = recording.await();
                assertThat(recorded.status()).isZero();
            }
        }
        try (Recording recording = Recording.open(file)) {
            long absent = told.path("absent").asLong();
            assertThat(absent).as("files that could be dropped from memory").isPositive();
            assertThat(recording.rows("""
                    SELECT count(*) FROM events WHERE name = 'page_fault' AND contains(path, '%s/')
                        AND stack NOT LIKE '%%;main (%%mapped.py:%%);touch (%%mapped.py:%d)%%'
                    """.formatted(files, told.path("line").asInt())))
                    .containsExactly("0");
            assertThat(recording.number("SELECT count(stack) FROM events WHERE name = 'page_fault' AND contains(path, '%s/')"
                            .formatted(files)))
                    .as("page faults with their path and stack; %s; %s; %s", recorded, recording.footer("zernel.stacks"),
                            recording.rows("SELECT kind, name, path, state, count(*), count(stack), max(dur_ns) FROM events GROUP BY ALL"))
                    .isBetween(told.path("waited").asLong() * 3 / 4, absent);
        }
    }

    /// Of the longest event of the thread in that time, without native frames. Empty where that is too short to have a stack:
    /// the thread had no CPU until what it waits for was there. A call without an event has the text `nothing`.
    private static Optional<String> stack(Recording recording, JsonNode call, long offset) {
        List<String> longest = recording.rows("""
                SELECT CASE WHEN dur_ns < 1000000 THEN 'short' ELSE coalesce(stack, 'none') END
                FROM events WHERE kind IN ('wait', 'io') AND tid = %d AND ts_ns >= %d AND ts_ns + dur_ns <= %d
                ORDER BY dur_ns DESC LIMIT 1
                """.formatted(
                        call.path("tid").asLong(),
                        call.path("start_ns").asLong() + offset,
                        call.path("end_ns").asLong() + offset));
        String found = longest.isEmpty() ? "nothing" : longest.getFirst();
        return found.equals("short")
                ? Optional.empty()
                : Optional.of(Arrays.stream(found.split(";"))
                        .filter(frame -> !frame.matches(".* \\([^:]*\\)|\\[lib.*]"))
                        .collect(Collectors.joining(";")));
    }

    private static String expected(JsonNode call) {
        List<String> frames = new ArrayList<>();
        for (JsonNode frame : call.path("frames")) {
            frames.add("%s (%s:%d)".formatted(
                    frame.path("function").asString(), frame.path("file").asString(), frame.path("line").asInt()));
        }
        Stream<String> known = frames.stream().limit(MOST_FRAMES);
        Stream<String> beyond = frames.size() > MOST_FRAMES ? Stream.of("[deeper]") : Stream.of();
        return Stream.concat(known, beyond).toList().reversed().stream().collect(Collectors.joining(";"));
    }

    @Test
    void samplesSayOnWhichLineAThreadComputes() throws IOException {
        Needs.bpf();
        Path script = directory.resolve("burn.py");
        Files.writeString(script, """
                import time

                def burn():
                    while time.process_time() < 2:
                        sum(number * number for number in range(1000))

                began = time.monotonic()
                burn()
                print(time.monotonic() - began)
                """);
        Path file = directory.resolve("run.parquet");
        Running.Outcome outcome =
                Recorder.recordTo(file, "--", Pythons.all().getFirst().toString(), script.toString()).runWell();
        double seconds = Double.parseDouble(outcome.out().getLast());
        try (Recording recording = Recording.open(file)) {
            long samples = recording.number("SELECT count(*) FROM events WHERE kind = 'sample' AND stack LIKE '%burn.py:8);burn%'");
            // 49 a second of CPU time. Their clock also ticks while a hypervisor has taken the CPU, which is no such time.
            assertThat(samples).isBetween(70L, Math.round(55 * seconds));
            assertThat(recording.number("SELECT count(*) FROM events WHERE kind = 'sample' AND stack LIKE '%burn (%burn.py:5)%'"))
                    .isGreaterThan(samples * 9 / 10);
            assertThat(recording.rows("SELECT DISTINCT name, dur_ns, period_ns FROM events WHERE kind = 'sample'"))
                    .containsExactly("on-cpu null 20408163");
        }
    }

    /// Of every sample, the frames are ones that the program can have, and each part of it has as many as its share of the CPU time.
    @ParameterizedTest
    @MethodSource("pythons")
    void samplesAreWhereTheTimeIs(Path python) throws IOException {
        Needs.bpf();
        Path file = directory.resolve("run.parquet");
        JsonNode truth;
        try (Running program = Running.start(python.toString(), Programs.source("burns.py"))) {
            program.awaitLine("ready");
            Recorder recorder = Recorder.recordTo(
                    file, "--kinds", "sample,process", "--sample-rate", "499", "-p", Long.toString(program.pid()));
            try (Running recording = recorder.startRecording()) {
                Running.pause(3000);
                program.say("end");
                truth = JsonMapper.shared().readTree(program.await().out().getLast());
                assertThat(recording.await().status()).isZero();
            }
        }
        try (Recording recording = Recording.open(file)) {
            // Until it knows the interpreter, samples have no Python frames, and none when the interpreter ends.
            List<String> stacks = recording.rows("""
                    SELECT stack FROM events
                    WHERE kind = 'sample' AND ts_ns >= (SELECT min(ts_ns) FROM events WHERE stack LIKE '%rounds (%burns.py:%')
                        AND ts_ns <= (SELECT max(ts_ns) FROM events WHERE stack LIKE '%rounds (%burns.py:%')
                    """).stream().map(WhichLineIT::functions).toList();
            assertThat(stacks).hasSizeGreaterThan(100);
            assertThat(stacks.stream().filter(stack -> !stack.matches(POSSIBLE))).hasSizeLessThanOrEqualTo(stacks.size() / 100);
            for (String part : truth.propertyNames()) {
                double share = (double) stacks.stream().filter(stack -> (stack + ";").contains(";" + part + ";")).count() / stacks.size();
                assertThat(share).as(part).isCloseTo(truth.path(part).asDouble(), within(0.12));
            }
        }
    }

    /// The names of a stack's Python functions, without what they are in.
    private static String functions(String stack) {
        return Arrays.stream(stack.split(";"))
                .filter(frame -> frame.matches(".* \\(.*:\\d+\\)"))
                .map(frame -> frame.replaceAll(" \\([^)]*\\)$", ""))
                .map(name -> name.substring(name.lastIndexOf('.') + 1))
                .collect(Collectors.joining(";"));
    }

    /// Calls of one function of a library by Python: those that take long have the stack of the caller, whichever way the
    /// function is probed.
    @ParameterizedTest
    @ValueSource(strings = {"session", "multi", "perf"})
    void aProbedFunctionThatTakesLongHasTheStackOfItsCaller(String backend) throws IOException {
        Needs.bpf();
        Path library = directory.resolve("libslow.so");
        Path source = directory.resolve("slow.c");
        Files.writeString(source, "#include <unistd.h>\nint slow(int ms) { usleep(1000 * ms); return ms; }\n");
        Running.Outcome built =
                Running.start("gcc", "-O1", "-shared", "-fPIC", "-o", library.toString(), source.toString()).await();
        assertThat(built.status()).as(built.toString()).isZero();
        Path script = directory.resolve("calls.py");
        Files.writeString(script, """
                import ctypes, time
                slow = ctypes.CDLL("%s").slow
                def waits():
                    slow(20)
                time.sleep(1)
                for _ in range(10):
                    waits()
                    slow(0)
                """.formatted(library));
        Path file = directory.resolve("run.parquet");
        Running.Outcome _ = Recorder.recordTo(file, "--backend", backend, "--probe", library + ":slow")
                .with("--", Pythons.all().getFirst().toString(), script.toString())
                .runWell();
        try (Recording recording = Recording.open(file)) {
            String calls = "SELECT count(*) FROM events WHERE kind = 'call' AND ";
            assertThat(recording.number(calls + "dur_ns >= 20000000 AND stack LIKE '<module> (%calls.py:7);waits (%calls.py:4)%'"))
                    .isEqualTo(10);
            assertThat(recording.number(calls + "dur_ns < 1000000 AND stack IS NULL"))
                    .isEqualTo(recording.number(calls + "dur_ns < 1000000"));
        }
    }

    @Test
    void namesOfFoldersAreLeftOutWithRedact() throws IOException {
        Needs.bpf();
        Path script = directory.resolve("lock.py");
        Files.writeString(script, """
                import threading
                threading.Thread(target=threading.Event().wait, args=(1,)).start()
                """);
        Path file = directory.resolve("run.parquet");
        Running.Outcome _ = Recorder.recordTo(file, "--redact", "--kinds", "wait,process")
                .with("--", Pythons.all().getFirst().toString(), script.toString())
                .runWell();
        try (Recording recording = Recording.open(file)) {
            List<String> frames = recording.rows("SELECT DISTINCT unnest(split(stack, ';')) FROM events WHERE dur_ns > 250000000");
            assertThat(frames).anyMatch(frame -> frame.matches("[\\w.]*run \\(\\.\\.\\./python3\\.[\\w.]+/threading\\.py:\\d+\\)"));
            assertThat(frames).noneMatch(frame -> frame.contains("(/"));
        }
        assertThat(stacksOf("--redact")).isNotEmpty().allMatch(stack -> stack.contains("(sleep.py:2)"));
    }

    @Test
    void noStackIsTakenWhenNoneIsWanted() throws IOException {
        Needs.bpf();
        assertThat(stacksOf("--stacks", "off")).containsExactly("null");
    }

    @Test
    void shorterWaitsHaveNoStack() throws IOException {
        Needs.bpf();
        assertThat(stacksOf("--stacks", "5s")).containsExactly("null");
        assertThat(stacksOf("--stacks", "100ms")).isNotEmpty().allMatch(stack -> stack.contains("sleep.py:2"));
    }

    private List<String> stacksOf(String... options) throws IOException {
        Path script = directory.resolve("sleep.py");
        Files.writeString(script, "import time\ntime.sleep(1)\n");
        Path file = directory.resolve("run.parquet");
        @Nullable String python = Pythons.all().getFirst().toString();
        Running.Outcome _ = Recorder.recordTo(file, options).with("--", python, script.toString()).runWell();
        try (Recording recording = Recording.open(file)) {
            return recording.rows("SELECT DISTINCT stack FROM events WHERE kind = 'wait' AND dur_ns > 250000000");
        }
    }
}
