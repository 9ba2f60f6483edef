package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.python.Pythons;
import io.dyber.zernel.record.python.Scribbler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Python programs that have garbage where their frames should be, at the moment at which their stacks are taken. Most crash
/// after that; the recorder does not.
class GarbageFramesIT {
    private static final int PROCESSES = 36;
    /// The length of the file's name is among what is garbage, so it may be cut.
    private static final String KNOWN =
            "(inner|outer|outer\\.<locals>\\.<lambda>|<lambda>|<module>) \\([^:]*(:\\d+)?\\)|\\[unreadable]|\\[deeper]|[^:]* \\([^:]*\\)|\\[[^:]*]";
    private static final String OF_BURNS = "(<module>|Net|deep|rounds|one|two|spin|(Net\\.)?(__call__|forward)|generated|ordered"
            + "|((Net\\.forward|generated|ordered)\\.<locals>\\.)?<(listcomp|genexpr|lambda)>)";
    /// Functions that have instructions without a line: CPython gives none to the first of a generator up to 3.10, nor to what
    /// cleans up after a generator or a comprehension from 3.12 on.
    private static final String MAY_LACK_LINES = "(rounds|(Net\\.)?forward|(generated\\.<locals>\\.)?<genexpr>)";

    @TempDir
    private Path directory = Path.of("");

    static List<Path> pythons() throws IOException {
        return Pythons.all();
    }

    @ParameterizedTest
    @MethodSource("pythons")
    void noFrameIsMadeUpAndNothingHangs(Path python) throws IOException, ElfException {
        Needs.bpf();
        Path file = directory.resolve("run.parquet");
        List<Running> programs = new ArrayList<>();
        try {
            for (int i = 0; i < PROCESSES; i++) {
                programs.add(Running.start("sh", "-c", "ulimit -c 0; exec " + python + " " + Programs.source("garbage.py")));
            }
            Recorder recorder = Recorder.recordTo(file, "--kinds", "io,process", "--stacks", "1us");
            for (Running program : programs) {
                program.awaitLine("ready");
                recorder = recorder.with("-p", Long.toString(program.pid()));
            }
            try (Running recording = recorder.startRecording()) {
                for (Running program : programs) {
                    program.say("go");
                    program.awaitLine("inside");
                }
                Random random = new Random(24);
                for (int i = 0; i < PROCESSES; i++) {
                    Scribbler.of((int) programs.get(i).pid(), random).scribble(i);
                    programs.get(i).say("x");
                }
                Running.pause(500);
                // A loop in its frames may keep one from its end.
                programs.forEach(Running::close);
                assertThat(recording.await().status()).isZero();
            }
        } finally {
            programs.forEach(Running::close);
        }
        try (Recording recording = Recording.open(file)) {
            assertThat(recording.number("SELECT count(DISTINCT pid) FROM events WHERE name = 'read' AND fd = 0 AND dur_ns > 1000000"))
                    .isEqualTo(PROCESSES);
            assertThat(recording.footer("zernel.stacks").path("unread").asLong()).isPositive();
            assertThat(recording.rows("SELECT DISTINCT stack FROM events WHERE stack IS NOT NULL").stream()
                            .flatMap(stack -> Arrays.stream(stack.split(";")))
                            .filter(frame -> !frame.matches(KNOWN))
                            .distinct())
                    .isEmpty();
        }
    }

    /// Interpreters that end while their frames are read: killed in a thousand calls, with many samples a second. They live a second
    /// and more, because the frames of a new process are known only some tenths of a second after its start.
    @ParameterizedTest
    @MethodSource("pythons")
    void anInterpreterMayEndWhileItIsRead(Path python) throws IOException {
        Needs.bpf();
        Path file = directory.resolve("run.parquet");
        Path script = directory.resolve("killed.sh");
        Files.writeString(script, """
                for i in $(seq 6); do
                    for j in 1 2 3; do
                        "%s" "%s" 1000 > /dev/null & victims="$victims $!"
                    done
                    sleep 1.$((2 + i %% 3))
                    kill -9 $victims
                    victims=
                done
                wait
                """.formatted(python, Programs.source("burns.py")));
        Running.Outcome outcome = Recorder.recordTo(file, "--sample-rate", "999", "--stacks", "1us", "--", "sh", script.toString()).run();
        assertThat(outcome.status()).as(outcome.toString()).isZero();
        try (Recording recording = Recording.open(file)) {
            assertThat(recording.footer("zernel.recording").path("stop").asString()).isEqualTo("command-exited");
            assertThat(recording.number("SELECT count(*) FROM events WHERE kind = 'sample' AND stack LIKE '%deep (%'"))
                    .isGreaterThan(100);
            assertThat(recording.rows("SELECT DISTINCT stack FROM events WHERE stack IS NOT NULL").stream()
                            .flatMap(stack -> Arrays.stream(stack.split(";")))
                            .filter(frame -> frame.contains("burns.py")
                                    && !frame.matches(OF_BURNS + " \\(.*burns\\.py:\\d+\\)")
                                    && !frame.matches(MAY_LACK_LINES + " \\(.*burns\\.py\\)"))
                            .distinct())
                    .isEmpty();
        }
    }
}
