package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// The recorder, its job or its disk come to an end: what is recorded by then stays, and the job goes on unharmed.
///
/// `-Dzernel.seeds=100` kills the recorder at a hundred moments instead of two.
@Tag("alone")
class CrashIT {
    private static final long SECOND = 1_000_000_000L;

    @TempDir
    private Path directory = Path.of("");

    private Path file = Path.of("");

    @BeforeEach
    void needs() {
        Needs.bpf();
        file = directory.resolve("run.parquet");
    }

    @Test
    void killingTheRecorderLosesLessThanASecondAndLeavesNoProbe() {
        int due = 0;
        for (int seed = 1; seed <= Integer.getInteger("zernel.seeds", 2); seed++) {
            Path folder = directory.resolve("seed " + seed);
            assertThat(folder.toFile().mkdir()).isTrue();
            due += kill(folder, new SplittableRandom(seed).nextLong(1, 3000));
        }
        assertThat(due).isGreaterThan(100);
    }

    /// Returns how many calls had to be there.
    private static int kill(Path folder, long afterMillis) {
        Path file = folder.resolve("run.parquet");
        try (Beat beat = Beat.steady(folder)) {
            long began;
            long killed;
            List<String> probes;
            try (Running recorder = beat.recorder(file).startRecording()) {
                beat.awaitNext(true);
                began = System.nanoTime();
                probes = links(recorder.pid());
                assertThat(probes).hasSizeGreaterThan(3);
                Running.pause(afterMillis);
                recorder.signal("KILL");
                killed = System.nanoTime();
                recorder.await();
            }
            beat.awaitNext(false);
            assertThat(links()).doesNotContainAnyElementsOf(probes);
            Running.Outcome recovery = Recorder.zernelRecord("recover", file.toString()).runWell();
            List<Long> due = beat.calls().stream()
                    .filter(call -> call.nanos() > began && call.nanos() < killed - SECOND)
                    .map(Beat.Call::number)
                    .toList();
            try (Recording recording = Recording.open(file)) {
                List<Long> numbers =
                        recording.numbers("SELECT number FROM events WHERE name = 'calls_push' ORDER BY number");
                assertThat(numbers).as("killed after %d ms: %s", afterMillis, recovery).containsAll(due);
                // None, where it was killed before it had written any.
                assertThat(recording.number(
                                "SELECT coalesce(max(number) - min(number) + 1, 0) - count(*) FROM events WHERE name = 'calls_push'"))
                        .isZero();
                assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isFalse();
            }
            return due.size();
        }
    }

    /// The numbers of the BPF links that a process holds.
    private static List<String> links(long pid) {
        return lines("sed -n 's/^link_id:[^0-9]*//p' /proc/" + pid + "/fdinfo/*");
    }

    /// Those that the kernel has; none without bpftool.
    private static List<String> links() {
        return lines("bpftool link list | sed -n 's/^\\([0-9]*\\):.*/\\1/p'");
    }

    private static List<String> lines(String command) {
        try (Running shell = Running.start("sh", "-c", command)) {
            return shell.await().out();
        }
    }

    @Test
    void moreInterruptsWhileTheFileIsBeingFinishedChangeNothing() {
        try (Beat beat = Beat.steady(directory);
                Running recorder = beat.recorder(file).startRecording()) {
            beat.awaitNext(true);
            recorder.signal("INT");
            for (String signal : List.of("INT", "TERM", "INT", "HUP")) {
                if (recorder.isAlive()) {
                    Running kill = Running.start("kill", "-" + signal, Long.toString(recorder.pid()));
                    kill.await();
                }
            }
            Running.Outcome outcome = recorder.await();
            assertThat(outcome.status()).as(outcome.toString()).isZero();
            beat.awaitNext(false);
        }
        try (Recording recording = Recording.open(file)) {
            assertThat(recording.footer("zernel.recording").path("stop").asString()).isEqualTo("signal");
            assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isTrue();
        }
        assertThat(directory).isDirectoryNotContaining("glob:**.live");
    }

    @Test
    void whenTheJobIsKilledAllItsCallsAreThere() {
        List<Beat.Call> calls;
        try (Beat beat = Beat.steady(directory);
                Running recorder = beat.recorder(file).startRecording()) {
            beat.awaitNext(true);
            Running.pause(300);
            beat.job.signal("KILL");
            assertThat(recorder.await().status()).isZero();
            calls = beat.calls();
        }
        try (Recording recording = Recording.open(file)) {
            long last = recording.number("SELECT max(number) FROM events WHERE name = 'calls_push'");
            assertThat(last).isBetween(calls.getLast().number() - 1, calls.getLast().number());
            assertThat(recording.number("SELECT max(number) - min(number) + 1 - count(*) FROM events WHERE kind = 'call'"))
                    .isZero();
            assertThat(recording.footer("zernel.recording").path("stop").asString()).isEqualTo("target-exited");
            assertThat(recording.rows("SELECT status FROM events WHERE kind = 'process' AND name = 'exit'"))
                    .containsExactly("137");
        }
    }

    @Test
    void aJobThatRunsAnotherProgramIsStillRecorded() {
        String beats = String.join(" ", Beat.command(directory.resolve("log"), "500", "100000", "1"));
        try (Running shell = Running.start("sh", "-c", "read go && exec " + beats);
                Running recorder = Recorder.recordTo(file, "-p", Long.toString(shell.pid()), "--kinds", "call,process")
                        .with("--probe", Beat.probe())
                        .startRecording()) {
            shell.say("go");
            assertThat(recorder.await().status()).isZero();
        }
        try (Recording recording = Recording.open(file)) {
            assertThat(recording.number("SELECT count(DISTINCT number) FROM events WHERE name = 'calls_push'"))
                    .isEqualTo(500);
            assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isTrue();
        }
    }

    @Test
    void aFullDiskEndsTheRecordingAndNotTheJob() throws IOException {
        Path disk = Files.createDirectory(directory.resolve("disk"));
        shell("mount -t tmpfs -o size=24m tmpfs " + disk);
        // Without probes, a fast machine makes a billion calls in a second.
        try (Beat beat = Beat.start(directory, "1000000000000000", "0", "2")) {
            Path full = disk.resolve("run.parquet");
            Running.Outcome outcome = beat.recorder(full).run();
            assertThat(outcome.status()).as(outcome.toString()).isEqualTo(1);
            assertThat(outcome.err()).anyMatch(line -> line.startsWith("zernel-record: ") && line.endsWith("no space left on the disk"));
            assertThat(outcome.err()).noneMatch(line -> line.contains("\tat "));
            assertThat(beat.job.isAlive()).isTrue();
            shell("mount -o remount,size=200m " + disk);
            if (Files.notExists(full)) {
                Recorder.zernelRecord("recover", full.toString()).runWell();
            }
            try (Recording recording = Recording.open(full)) {
                assertThat(recording.number("SELECT count(*) FROM events WHERE name = 'calls_push'"))
                        .isGreaterThan(50_000);
                assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isFalse();
            }
        } finally {
            shell("umount " + disk);
        }
    }

    @Test
    void aFullDiskEndsTheRecordingAndNotTheCommand() throws IOException {
        Path disk = Files.createDirectory(directory.resolve("disk"));
        Path full = disk.resolve("run.parquet");
        shell("mount -t tmpfs -o size=1m tmpfs " + disk);
        try (Running recorder = recordingOfAFlood(full, "read go; echo ov''er; exit 3")) {
            recorder.awaitLine("zernel-record: the command goes on without being recorded");
            recorder.say("go");
            recorder.awaitLine("over");
            Running.Outcome outcome = recorder.await();
            assertThat(outcome.status()).as(outcome.toString()).isEqualTo(3);
            assertThat(outcome.err()).noneMatch(line -> line.contains("\tat "));
            // The rows are smaller than their journal, which makes room for them.
            try (Recording recording = Recording.open(full)) {
                List<String> reasons = recording.footer("zernel.recording").path("incomplete_because").valueStream()
                        .map(JsonNode::asString)
                        .toList();
                assertThat(reasons).noneMatch(reason -> reason.contains("do not add up"));
                Matcher more = Pattern.compile("no space left on the disk: ([\\d,]+) more events are not in the file")
                        .matcher(String.join("\n", reasons));
                assertThat(more.find()).as("%s", reasons).isTrue();
                JsonNode push = recording.footer("zernel.probes").path(0);
                long missing = push.path("entries").asLong() - push.path("lost").asLong()
                        - recording.number("SELECT count(*) FROM events WHERE name = 'calls_push'");
                // The end of the flood's process is among them, too.
                assertThat(Long.parseLong(more.group(1).replace(",", ""))).isBetween(missing, missing + 20);
            }
        } finally {
            shell("umount " + disk);
        }
    }

    @Test
    void anErrorOfTheRecorderEndsTheRecordingAndNotTheCommand() throws IOException {
        Path folder = Files.createDirectory(directory.resolve("output"));
        String beats = String.join(" ", Beat.command(directory.resolve("log"), "1000000000", "1000000", "1"));
        String job = beats + " > /dev/null & echo rea''dy; read go; kill $!; echo ov''er; exit 3";
        try (Running recorder = Recorder.recordTo(folder.resolve("run.parquet"), "--kinds", "call,process", "--probe", Beat.probe())
                .with("--", "sh", "-c", job)
                .startRecording()) {
            recorder.awaitLine("ready");
            shell("rm -r " + folder);
            recorder.awaitLine("no such folder");
            recorder.awaitLine("zernel-record: the command goes on without being recorded");
            recorder.say("go");
            recorder.awaitLine("over");
            assertThat(recorder.await().status()).isEqualTo(3);
        }
    }

    @Test
    void aCommandThatOutlivesItsRecordingEndsWhenTheTimeIsOver() throws IOException {
        Path disk = Files.createDirectory(directory.resolve("disk"));
        shell("mount -t tmpfs -o size=1m tmpfs " + disk);
        try (Running recorder = recordingOfAFlood(disk.resolve("run.parquet"), "sleep 1000", "-d", "20s")) {
            recorder.awaitLine("zernel-record: the command goes on without being recorded");
            assertThat(recorder.await().status()).isOne();
        } finally {
            shell("umount " + disk);
        }
    }

    @Test
    void aCommandThatOutlivesItsRecordingEndsWithTheRecorder() throws IOException {
        Path disk = Files.createDirectory(directory.resolve("disk"));
        shell("mount -t tmpfs -o size=1m tmpfs " + disk);
        String untilTold = "trap 'touch " + directory.resolve("told") + "; exit' TERM; while :; do sleep 0.1; done";
        try (Running recorder = recordingOfAFlood(disk.resolve("run.parquet"), untilTold)) {
            recorder.awaitLine("zernel-record: the command goes on without being recorded");
            recorder.signal("TERM");
            assertThat(recorder.await().status()).isOne();
            for (int i = 0; i < 1000 && Files.notExists(directory.resolve("told")); i++) {
                Running.pause(20);
            }
            assertThat(directory.resolve("told")).exists();
        } finally {
            shell("umount " + disk);
        }
    }

    /// Of a command whose calls fill a disk of a megabyte, and which then goes on like this.
    private Running recordingOfAFlood(Path full, String then, String... options) {
        String flood = String.join(" ", Beat.command(directory.resolve("log"), "400000", "0", "1"));
        return Recorder.recordTo(full, "--kinds", "call,process", "--probe", Beat.probe())
                .with(options)
                .with("--", "sh", "-c", flood + " > /dev/null; " + then)
                .startRecording();
    }

    @Test
    void anOutputFolderThatIsRemovedEndsTheRecordingAndNotTheJob() throws IOException {
        Path folder = Files.createDirectory(directory.resolve("output"));
        try (Beat beat = Beat.steady(directory);
                Running recorder = beat.recorder(folder.resolve("run.parquet")).startRecording()) {
            beat.awaitNext(true);
            shell("rm -r " + folder);
            Running.Outcome outcome = recorder.await();
            assertThat(outcome.status()).as(outcome.toString()).isEqualTo(1);
            assertThat(outcome.err()).anyMatch(line -> line.startsWith("zernel-record: ") && line.endsWith("no such folder"));
            assertThat(outcome.err()).noneMatch(line -> line.contains("\tat "));
            beat.awaitNext(false);
        }
    }

    @Test
    void twoRecordersOfOneJobAreBothComplete() {
        Path second = directory.resolve("second.parquet");
        try (Beat beat = Beat.steady(directory);
                Running one = beat.recorder(file).startRecording();
                Running two = beat.recorder(second).startRecording()) {
            Running.Outcome refused = beat.recorder(file).run();
            CommandLineTest.assertOneLine(refused, "already being recorded by pid " + one.pid());
            beat.awaitNext(true);
            two.signal("INT");
            assertThat(two.await().status()).isZero();
            beat.awaitNext(true);
            one.signal("INT");
            assertThat(one.await().status()).isZero();
            beat.awaitNext(false);
        }
        for (Path each : List.of(file, second)) {
            try (Recording recording = Recording.open(each)) {
                assertThat(recording.number("SELECT max(number) - min(number) + 1 - count(*) FROM events WHERE kind = 'call'"))
                        .isZero();
                assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isTrue();
            }
        }
    }

    /// Four threads make twice as many calls as the ring has room for while the recorder stands still.
    @Test
    void whatAStoppedRecorderCannotTakeIsCountedToTheCallAndNoProcessIsMissed() {
        String flood = String.join(" ", Beat.command(directory.resolve("log"), "200000", "0", "4"));
        // The recorder repeats the command: the words to wait for must not be in it.
        String job = "echo rea''dy; read go; for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; " + flood + "; echo ov''er";
        try (Running running = Recorder.recordTo(file, "--kinds", "call,process", "--probe", Beat.probe())
                .with("--", "sh", "-c", job)
                .startRecording()) {
            running.awaitLine("ready");
            running.stop();
            running.say("go");
            running.awaitLine("over");
            running.signal("CONT");
            Running.Outcome outcome = running.await();
            assertThat(outcome.status()).as(outcome.toString()).isZero();
            assertThat(outcome.err()).anyMatch(line -> line.startsWith("zernel-record: incomplete: "));
        }
        try (Recording recording = Recording.open(file)) {
            assertThat(recording.number("SELECT count(*) FROM events WHERE name = 'exec' AND path LIKE '%/true'"))
                    .isEqualTo(10);
            JsonNode push = recording.footer("zernel.probes").path(0);
            long lost = push.path("lost").asLong();
            assertThat(lost).isPositive();
            assertThat(push.path("entries").asLong()).isEqualTo(800_000);
            assertThat(push.path("events").asLong()).isEqualTo(800_000 - lost);
            assertThat(recording.rows("SELECT DISTINCT name FROM events WHERE kind = 'lost'")).containsExactly("call");
            assertThat(recording.number("SELECT sum(count) FROM events WHERE kind = 'lost' AND dur_ns > 0")).isEqualTo(lost);
            assertThat(recording.footer("zernel.losses").path("total").asLong()).isEqualTo(lost);
            assertThat(recording.footer("zernel.recording").path("incomplete_because").valueStream()
                            .map(JsonNode::asString))
                    .noneMatch(reason -> reason.contains("do not add up"))
                    .anyMatch(reason -> reason.startsWith(lost + " events found the ring full: {call=" + lost + "}"));
        }
    }

    private static void shell(String command) {
        try (Running running = Running.start("sh", "-c", command)) {
            Running.Outcome outcome = running.await();
            assertThat(outcome.status()).as("%s: %s", command, outcome).isZero();
        }
    }
}
