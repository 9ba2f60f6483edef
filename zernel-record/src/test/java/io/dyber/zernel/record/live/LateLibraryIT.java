package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Libraries and processes that come after the recorder. A library that no process had loaded takes it a moment, up to a
/// second, to find: it says so, and only then the calls begin.
@Tag("alone")
class LateLibraryIT {
    private static final String PROBE = ":calls_push(number=arg1, thread=arg2:u32)";
    private static final String FOUND = "probing 1 function of ";

    @TempDir
    private Path directory = Path.of("");

    private Path file = Path.of("");
    private Path library = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
    }

    private void copyLibrary() throws IOException {
        file = directory.resolve("run.parquet");
        library = directory.resolve("libcalls.so");
        // A new file that moves in place: the old one stays what running processes have mapped.
        Path fresh = Files.copy(Programs.built("libcalls.so"), directory.resolve("fresh"));
        Files.move(fresh, library, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    @Test
    void aLibraryThatIsLoadedLaterIsRecorded() throws IOException {
        copyLibrary();
        try (Running recorder = Recorder.recordTo(file, "--kinds", "call", "--probe", "libcalls.so" + PROBE)
                .with("--", Programs.built("late").toString(), library.toString(), "calls_push", "1000")
                .start()) {
            recorder.awaitLine("ready");
            load(recorder, recorder, 1);
            assertThat(recorder.await().status()).isZero();
        }
        assertThat(calls()).isEqualTo("1000 499500 1000 9 1");
    }

    @Test
    void aProcessThatStartsLaterIsRecorded() throws IOException {
        copyLibrary();
        try (Running recorder = recordEveryone("libcalls.so" + PROBE)) {
            try (Running late = late()) {
                load(late, recorder, 1);
                assertThat(late.await().out()).endsWith("called 1000 499500");
            }
            recorder.signal("INT");
            assertThat(recorder.await().status()).isZero();
        }
        assertThat(calls()).isEqualTo("1000 499500 1000 9 1");
    }

    @Test
    void aLibraryGivenAsAPathIsProbedBeforeAnybodyLoadsIt() throws IOException {
        copyLibrary();
        try (Running recorder = recordEveryone(library + PROBE)) {
            try (Running late = late()) {
                late.say("load");
                late.say("call");
                assertThat(late.await().out()).endsWith("called 1000 499500");
            }
            recorder.signal("INT");
            assertThat(recorder.await().status()).isZero();
        }
        assertThat(calls()).isEqualTo("1000 499500 1000 9 1");
    }

    @Test
    void aLibraryThatIsReplacedIsRecordedInOldAndNewProcesses() throws IOException {
        copyLibrary();
        try (Running recorder = recordEveryone("libcalls.so" + PROBE)) {
            try (Running before = late();
                    Running after = late()) {
                before.say("load");
                before.awaitLine("loaded");
                recorder.awaitLine(FOUND);
                copyLibrary();
                load(after, recorder, 2);
                before.say("call");
                assertThat(before.await().status()).isZero();
                assertThat(after.await().status()).isZero();
            }
            recorder.signal("INT");
            assertThat(recorder.await().status()).isZero();
        }
        assertThat(calls()).isEqualTo("2000 999000 2000 9 2");
    }

    private Running recordEveryone(String probe) {
        return Recorder.recordTo(file, "-a", "--kinds", "call", "--probe", probe).startRecording();
    }

    private Running late() {
        Running late = Running.start(Programs.built("late").toString(), library.toString(), "calls_push", "1000");
        late.awaitLine("ready");
        return late;
    }

    /// Lets it load the library, waits until the recorder has found so many, and lets it call.
    private static void load(Running late, Running recorder, int libraries) {
        late.say("load");
        late.awaitLine("loaded");
        recorder.awaitLine(FOUND, libraries);
        late.say("call");
    }

    private String calls() {
        try (Recording recording = Recording.open(file)) {
            return recording.value("""
                    SELECT count(*), sum(number), count(dur_ns), max(thread), count(DISTINCT pid) FROM events
                    WHERE kind = 'call' AND name = 'calls_push'
                    """);
        }
    }
}
