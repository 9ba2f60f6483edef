package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// Programs that call a library in the moment in which they load it. Not one call is missing, or the recording says of which
/// library and for how long.
@Tag("alone")
class SurpriseIT {
    private static final int CALLS = 20_000;
    private static final String PROBE = "libcalls.so:calls_push(number=arg1)";

    @TempDir
    private Path directory = Path.of("");

    private Path file = Path.of("");
    private Path program = Path.of("");

    @BeforeEach
    void copyProgram() throws IOException {
        Needs.bpf();
        file = directory.resolve("run.parquet");
        program = copy(Programs.built("surprise"), "bin/surprise");
    }

    private Path copy(Path source, String name) throws IOException {
        Path target = directory.resolve(name);
        Files.createDirectories(target.getParent());
        return Files.copy(source, target);
    }

    private Path library(String name) throws IOException {
        return copy(Programs.built("libcalls.so"), name);
    }

    private Recorder recorder(String surprise, String... arguments) {
        return Recorder.recordTo(file, "--kinds", "call,process", "--probe", PROBE)
                .with(arguments)
                .environment("SURPRISE", surprise);
    }

    private Recorder holding(String surprise, String... arguments) {
        return recorder(surprise, arguments).with("--hold");
    }

    private Recording record(Recorder recorder, Object... command) {
        String[] words = new String[command.length + 1];
        words[0] = "--";
        for (int i = 0; i < command.length; i++) {
            words[i + 1] = command[i].toString();
        }
        Running.Outcome _ = recorder.with(words).runWell();
        return Recording.open(file);
    }

    private static long calls(Recording recording) {
        return recording.number("SELECT count(*) FROM events WHERE kind = 'call' AND name = 'calls_push'");
    }

    private static JsonNode library(Recording recording) {
        JsonNode libraries = recording.footer("zernel.libraries");
        assertThat(libraries).hasSize(1);
        return libraries.get(0);
    }

    private static void assertForeseen(Recording recording) {
        assertThat(calls(recording)).isEqualTo(CALLS);
        assertThat(recording.footer("zernel.recording").path("incomplete_because")).isEmpty();
        JsonNode library = library(recording);
        assertThat(library.path("found").asString()).isEqualTo("foreseen");
        assertThat(library.path("attached_ns").asLong()).isLessThan(library.path("loaded_ns").asLong());
        assertThat(library.path("held_ns").asLong()).isZero();
        assertThat(library.path("unseen_ns").asLong()).isZero();
    }

    @Test
    void aLibraryOfTheLibraryPathIsProbedBeforeItIsLoaded() throws IOException {
        Path _ = library("path/libcalls.so");
        Recorder recorder = holding("libcalls.so")
                .environment("LD_LIBRARY_PATH", directory.resolve("path").toString());
        try (Recording recording = record(recorder, program, CALLS)) {
            assertForeseen(recording);
        }
    }

    @Test
    void aLibraryOfTheProgramsRunpathIsProbedBeforeItIsLoaded() throws IOException {
        Path _ = library("bin/lib/libcalls.so");
        try (Recording recording = record(holding("libcalls.so"), program, CALLS)) {
            assertForeseen(recording);
        }
    }

    @Test
    void aLibraryOfTheLoadersCacheIsProbedBeforeItIsLoaded() throws IOException {
        Path _ = library("cached/libcalls.so");
        Path folders = Files.writeString(directory.resolve("ld.so.conf"), directory.resolve("cached") + "\n");
        String script = "ldconfig -X -C \"$1/cache\" -f \"$2\" && mount --bind \"$1/cache\" /etc/ld.so.cache && shift 2"
                + " && exec \"$@\"";
        Recorder recorder = holding("libcalls.so")
                .under("unshare", "-m", "sh", "-c", script, "sh", directory.toString(), folders.toString());
        try (Recording recording = record(recorder, program, CALLS)) {
            assertForeseen(recording);
        }
    }

    @Test
    void aLibraryOfAPackageOfThePythonIsProbedBeforeItIsLoaded() throws IOException {
        Path library = library("venv/lib/python3.99/site-packages/torch/lib/libcalls.so");
        Path python = copy(program, "venv/bin/python3.99");
        Path link = Files.createSymbolicLink(directory.resolve("venv/bin/python3"), python.getFileName());
        try (Recording recording = record(holding(library.toString()), link, CALLS)) {
            assertForeseen(recording);
        }
    }

    /// A Python sets itself up before it loads libraries of packages; the script does not say which it is.
    @Test
    void aLibraryOfAPackageOfThePythonThatAScriptFindsIsProbedBeforeItIsLoaded() throws IOException {
        Path library = library("venv/lib/python3.99/site-packages/torch/lib/libcalls.so");
        Path python = copy(program, "base/bin/python3.99");
        Files.createDirectories(directory.resolve("venv/bin"));
        Path _ = Files.createSymbolicLink(directory.resolve("venv/bin/python3"), python);
        String script = "name=venv; exec \"" + directory + "/$name/bin/python3\" " + CALLS + " after 2";
        try (Recording recording = record(recorder(library.toString()), "sh", "-c", script)) {
            assertForeseen(recording);
        }
    }

    @Test
    void aLibraryThatIsForeseenAndNotLoadedIsNoProblem() throws IOException {
        Path library = library("bin/lib/libcalls.so");
        Recorder recorder = holding("none").with("--probe", "libcalls.so:calls_nowhere");
        try (Recording recording = record(recorder, program.resolveSibling("surprise"), 0, 0)) {
            assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isTrue();
            assertThat(recording.footer("zernel.probes"))
                    .extracting(probe -> probe.path("state").asString())
                    .containsOnly("waiting");
            assertThat(library(recording).path("library").asString()).isEqualTo(library.toString());
            assertThat(library(recording).path("loaded_ns").isNull()).isTrue();
        }
    }

    @Test
    void aProcessIsHeldUntilALibraryThatNobodyCouldForeseeIsProbed() throws IOException {
        Path library = library("somewhere/else/libcalls.so");
        try (Recording recording = record(holding(library.toString()), program, CALLS)) {
            assertThat(calls(recording)).isEqualTo(CALLS);
            assertThat(recording.footer("zernel.recording").path("incomplete_because")).isEmpty();
            assertThat(library(recording).path("found").asString()).isEqualTo("late");
            assertThat(library(recording).path("held_ns").asLong()).isPositive();
            assertThat(library(recording).path("unseen_ns").asLong()).isZero();
        }
    }

    @Test
    void withoutHoldingTheRecordingSaysHowLongItSawNothing() throws IOException {
        Path library = library("somewhere/else/libcalls.so");
        try (Recording recording = record(recorder(library.toString()), program, CALLS)) {
            assertSaysWhatIsMissing(recording, library);
            assertThat(library(recording).path("held_ns").asLong()).isZero();
            assertThat(calls(recording)).isLessThanOrEqualTo(CALLS);
        }
    }

    /// In its name nothing tells that it is wanted, so that nobody knows it in time.
    @Test
    void aLibraryThatIsOnlyKnownByItsSonameIsSaidToBeMissed() throws IOException {
        Path library = library("somewhere/else/renamed.so");
        try (Recording recording = record(holding(library.toString()), program, CALLS)) {
            assertSaysWhatIsMissing(recording, library);
        }
    }

    private static void assertSaysWhatIsMissing(Recording recording, Path library) {
        assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isFalse();
        assertThat(recording.footer("zernel.recording").path("incomplete_because").get(0).asString())
                .matches("calls into " + library + " were not seen for [0-9,.]+ ms: it was loaded by surprise");
        assertThat(library(recording).path("found").asString()).isEqualTo("late");
        assertThat(library(recording).path("unseen_ns").asLong()).isPositive();
    }

    @Test
    void aStormOfShortProcessesIsRecordedFromTheFirst() throws IOException {
        Path library = library("somewhere/else/libcalls.so");
        try (Recording recording = record(holding(library.toString()), program, 3, 2_000)) {
            assertThat(recording.value(
                            "SELECT count(*) || ' ' || count(DISTINCT pid) FROM events WHERE name = 'calls_push'"))
                    .isEqualTo("6000 2000");
            assertThat(recording.footer("zernel.recording").path("incomplete_because")).isEmpty();
        }
    }

    @Test
    void aStormOfProgramsThatAShellFindsIsRecordedFromTheFirst() throws IOException {
        Path library = library("somewhere/else/libcalls.so");
        Path script = Files.writeString(
                directory.resolve("storm.sh"), "for i in $(seq 200); do \"$PROGRAM\" 3 > /dev/null; done\n");
        Recorder recorder = holding(library.toString())
                .environment("PROGRAM", program.toString())
                .with("--probe", "exe:surprise_call");
        try (Recording recording = record(recorder, "sh", script)) {
            assertThat(recording.rows("""
                    SELECT name, count(*), count(DISTINCT pid) FROM events WHERE kind = 'call' GROUP BY ALL ORDER BY name
                    """)).containsExactly("calls_push 600 200", "surprise_call 600 200");
            assertThat(recording.footer("zernel.recording").path("incomplete_because")).isEmpty();
        }
    }

    @Test
    void aProcessGoesOnWhenTheRecorderIsKilledWhileItHoldsIt() throws IOException {
        Path library = library("somewhere/else/libcalls.so");
        Path go = directory.resolve("go");
        // The recorder repeats the command: the word to wait for must not be in it.
        String script = "echo u''p; until [ -e \"$GO\" ]; do sleep 0.01; done; \"$PROGRAM\" 3 until LINE";
        try (Running recorder = holding(library.toString())
                .environment("PROGRAM", program.toString())
                .environment("GO", go.toString())
                .with("--", "sh", "-c", script)
                .start()) {
            recorder.awaitLine("up");
            recorder.stop();
            Path _ = Files.createFile(go);
            ProcessHandle held = awaitChild(recorder, program, "T");
            recorder.signal("KILL");
            assertThat(recorder.await().out()).contains("called 3");
            assertThat(state(held)).contains("S");
            assertThat(held.destroy()).isTrue();
        }
    }

    /// Waits until a descendant runs a program and is in a state.
    private static ProcessHandle awaitChild(Running recorder, Path program, String state) {
        for (int i = 0; i < 3_000; i++) {
            Optional<ProcessHandle> child = ProcessHandle.of(recorder.pid()).stream()
                    .flatMap(ProcessHandle::descendants)
                    .filter(one -> one.info().command().orElse("").equals(program.toString()))
                    .filter(one -> state(one).equals(Optional.of(state)))
                    .findFirst();
            if (child.isPresent()) {
                return child.get();
            }
            Running.pause(10);
        }
        throw new AssertionError("no '" + program + "' in state " + state);
    }

    private static Optional<String> state(ProcessHandle process) {
        return Running.state(Path.of("/proc", Long.toString(process.pid())));
    }
}
