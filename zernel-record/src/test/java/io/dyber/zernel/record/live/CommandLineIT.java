package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// What the command says, returns and leaves behind on a machine that can record, and where a part of that is missing.
class CommandLineIT {
    private static final String NOBODY = "65534";
    /// Another user, who may still read the class path wherever it is.
    private static final String AS_NOBODY = "setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs "
            + "--inh-caps -all,+dac_read_search%1$s --ambient-caps -all,+dac_read_search%1$s "
            + "--bounding-set -all,+dac_read_search%1$s --";

    @TempDir
    private Path directory = Path.of("");

    @BeforeEach
    void needs() throws IOException {
        Needs.bpf();
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxrwxrwx"));
    }

    private Path file() {
        return directory.resolve("run.parquet");
    }

    private void assertNothingLeftBehind() {
        try (Stream<Path> left = Files.list(directory)) {
            assertThat(left).isEmpty();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void withoutPrivilegesItSaysWhichAreMissing() {
        Running.Outcome outcome = Recorder.recordTo(file(), "--", "true")
                .under(AS_NOBODY.formatted("").split(" "))
                .run();
        CommandLineTest.assertOneLine(outcome, "not permitted");
        assertThat(outcome.err().getLast()).startsWith("hint: ").contains("CAP_BPF").contains("CAP_PERFMON");
        assertNothingLeftBehind();
    }

    @Test
    void bpfAndPerfmonAreEnough() {
        Running.Outcome outcome = Recorder.recordTo(file(), "--probe", probe())
                .with("--", Programs.built("calls").toString(), "10")
                .under(AS_NOBODY.formatted(",+bpf,+perfmon").split(" "))
                .run();
        assertThat(outcome.status()).as(outcome.toString()).isEqualTo(5);
        try (Recording recording = Recording.open(file())) {
            assertThat(recording.number("SELECT count(*) FROM events WHERE name = 'calls_push'")).isEqualTo(40);
        }
    }

    @Test
    void aPatternThatMeansMoreFunctionsThanThereIsRoomForIsRefusedAloneAndSaid() throws IOException {
        Path source = Files.writeString(directory.resolve("many.s"), """
                .altmacro
                .macro function n
                .globl many_\\n
                .type many_\\n, @function
                many_\\n: ret
                .size many_\\n, 1
                .endm
                .set i, 0
                .rept 5000
                function %i
                .set i, i + 1
                .endr
                .section .note.GNU-stack
                """);
        Path library = directory.resolve("libmany.so");
        try (Running gcc = Running.start("gcc", "-shared", "-o", library.toString(), source.toString())) {
            assertThat(gcc.await().status()).isZero();
        }
        Running.Outcome outcome = Recorder.recordTo(file(), "-p", "1", "-d", "100ms", "--kinds", "call")
                .with("--probe", library + ":many_?", "--probe", library + ":many_*")
                .runWell();
        assertThat(outcome.err())
                .anyMatch(line -> line.matches("zernel-record: probing 'many_\\*' in '" + library
                        + "': 4,990 functions match, and there is room for 4,0\\d\\d; none of them is probed"))
                .anyMatch(line -> line.startsWith("hint: narrow the --probe pattern"))
                .anyMatch(line -> line.startsWith("zernel-record: recording ") && line.contains("(10 functions probed"));
        try (Recording recording = Recording.open(file())) {
            assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isFalse();
        }
    }

    @Test
    void aProbeThatMatchesNothingIsSaidAtTheEndAndInTheFooter() {
        Running.Outcome outcome = Recorder.recordTo(file(), "--kinds", "call", "--probe", "libnosuch.so:foo")
                .with("--probe", Programs.built("libcalls.so") + ":calls_nosuch")
                .with("--", "true")
                .run();
        assertThat(outcome.status()).isZero();
        assertThat(outcome.err())
                .contains("zernel-record: --probe 'libnosuch.so:foo' matched nothing: no recorded process has loaded libnosuch.so")
                .anyMatch(line -> line.startsWith("zernel-record: --probe '" + Programs.built("libcalls.so")
                        + ":calls_nosuch' matched nothing: " + Programs.built("libcalls.so") + ": no such "))
                .anyMatch(line -> line.contains(" (functions will be probed as libraries are loaded, "));
        try (Recording recording = Recording.open(file())) {
            assertThat(recording.footer("zernel.probes").valueStream()
                            .filter(probe -> probe.path("state").asString().equals("waiting"))
                            .map(probe -> probe.path("library").asString() + ":" + probe.path("symbol").asString()))
                    .containsExactly("libnosuch.so:foo");
        }
    }

    @Test
    void withoutBtfItSaysSo() {
        Running.Outcome outcome = Recorder.recordTo(file(), "--", "true")
                .under("unshare", "-m", "sh", "-c", "mount -t tmpfs none /sys/kernel/btf && exec \"$@\"", "sh")
                .run();
        CommandLineTest.assertOneLine(outcome, "/sys/kernel/btf/vmlinux");
        assertNothingLeftBehind();
    }

    @Test
    void withoutLibbpfItSaysWhatToInstall(@TempDir Path scratch) {
        Running.Outcome outcome = Recorder.recordTo(file(), "--", "true")
                .property("zernel.libbpf", "libbpf-nowhere.so.1")
                .property("java.io.tmpdir", scratch.toString())
                .run();
        CommandLineTest.assertOneLine(outcome, "libbpf-nowhere.so.1");
        assertThat(outcome.err().getLast()).startsWith("hint: ").contains("install").contains("libbpf");
        assertThat(scratch).as("what the warming up left").isEmptyDirectory();
        assertNothingLeftBehind();
    }

    @Test
    void aProcessThatIsNotThereCannotBeRecorded() {
        CommandLineTest.assertOneLine(Recorder.recordTo(file(), "-p", "4194305").run(), "4194305");
        assertNothingLeftBehind();
    }

    @Test
    void outputInADirectoryThatIsNotThereIsRefusedBeforeTheCommandRuns() {
        Path trace = directory.resolve("trace");
        Running.Outcome outcome = Recorder.recordTo(
                        directory.resolve("nowhere/run.parquet"), "--", "touch", trace.toString())
                .run();
        CommandLineTest.assertOneLine(outcome, "nowhere");
        assertNothingLeftBehind();
    }

    @Test
    void outputThatIsADirectoryIsRefused() throws IOException {
        Files.createDirectory(file());
        CommandLineTest.assertOneLine(Recorder.recordTo(file(), "--", "true").run(), "run.parquet");
        assertThat(file()).isEmptyDirectory();
        Files.delete(file());
        assertNothingLeftBehind();
    }

    @ParameterizedTest
    @ValueSource(strings = {"#!/bin/sh\n", "#!/usr/bin/env -S LANG=C sh -e\n", ""})
    void aScriptIsACommandLikeAnyOther(String firstLine) throws IOException {
        Path script = Files.writeString(directory.resolve("script"), firstLine + "echo from the script\n");
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwxr-xr-x"));
        assertThat(Recorder.recordTo(file(), "--", script.toString()).runWell().out()).containsExactly("from the script");
        try (Recording recording = Recording.open(file())) {
            assertThat(recording.footer("zernel.recording").path("incomplete_because").valueStream()).isEmpty();
            assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isTrue();
            assertThat(recording.footer("zernel.probes").valueStream()).isEmpty();
        }
    }

    @Test
    void aFileWithTheNameOfALibraryThatIsNoneMattersOnlyToAProbeOfTheUser() throws IOException {
        Path script = Files.writeString(directory.resolve("libcuda.so.1"), "GROUP(libcuda.so.580)\n");
        try (Running recorder = Recorder.recordTo(file(), "--kinds", "cuda_launch", "--probe", "libcuda.so.1:cuInit")
                .with("--", Programs.built("maps").toString(), script.toString())
                .start()) {
            recorder.awaitLine("mapped");
            recorder.say("");
            assertThat(recorder.await().status()).isZero();
        }
        try (Recording recording = Recording.open(file())) {
            assertThat(recording.footer("zernel.recording").path("incomplete_because").valueStream()
                            .map(JsonNode::asString))
                    .containsExactly("probe on 'cuInit' in " + script + ": it is not an ELF file");
        }
    }

    @Test
    void aCommandThatIsNotThereIs127() {
        Running.Outcome outcome =
                Recorder.recordTo(file(), "--", "no-such-command-of-zernel").run();
        assertThat(outcome.status()).isEqualTo(127);
        assertThat(outcome.err()).hasSize(1);
        assertThat(outcome.err().getFirst()).startsWith("zernel-record: ").contains("'no-such-command-of-zernel'");
        assertThat(Recorder.recordTo(file(), "--", "doctr").run().err())
                .endsWith("hint: did you mean 'zernel-record doctor'?");
        assertNothingLeftBehind();
    }

    @Test
    void theStatusOfTheCommandIsPassedOn() {
        assertThat(Recorder.recordTo(file(), "--", "sh", "-c", "exit 7").run().status()).isEqualTo(7);
        assertThat(Recorder.recordTo(file(), "--", "sh", "-c", "kill -9 $$").run().status()).isEqualTo(137);
    }

    @Test
    void theCommandKeepsItsOutputAndItsInput() {
        try (Running recorder =
                Recorder.recordTo(file(), "--", "sh", "-c", "read line; echo got $line; echo bad >&2").startRecording()) {
            recorder.say("hello");
            Running.Outcome outcome = recorder.await();
            assertThat(outcome.status()).isZero();
            assertThat(outcome.out()).containsExactly("got hello");
            assertThat(outcome.err()).contains("bad");
        }
    }

    @Test
    void aRecordingWithoutEventsIsAFileWithoutRows() {
        try (Running target = Running.start("sleep", "60")) {
            Recorder.recordTo(file(), "--kinds", "region", "-d", "100ms", "-p", Long.toString(target.pid())).runWell();
        }
        try (Recording recording = Recording.open(file())) {
            assertThat(recording.number("SELECT count(*) FROM events WHERE kind = 'region'")).isZero();
            assertThat(recording.footer("zernel.recording").path("stop").asString()).isEqualTo("duration");
            assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isTrue();
        }
    }

    @Test
    void interruptAndTerminateFinishTheFileAndLeaveTheProcessAlone() {
        for (String signal : new String[] {"INT", "TERM", "HUP"}) {
            try (Running target = Running.start("sleep", "60");
                    Running recorder =
                            Recorder.recordTo(file(), "-p", Long.toString(target.pid())).startRecording()) {
                recorder.signal(signal);
                Running.Outcome outcome = recorder.await();
                assertThat(outcome.status()).as(outcome.toString()).isZero();
                assertThat(target.isAlive()).isTrue();
            }
            try (Recording recording = Recording.open(file())) {
                assertThat(recording.footer("zernel.recording").path("stop").asString()).isEqualTo("signal");
            }
            assertOnlyTheFile();
            delete(file());
        }
    }

    @Test
    void interruptEndsTheCommandToo() {
        try (Running recorder = Recorder.recordTo(file(), "--", "sh", "-c", "echo be''gun; exec sleep 3600").startRecording()) {
            recorder.awaitLine("begun");
            recorder.signal("INT");
            recorder.await();
        }
        try (Recording recording = Recording.open(file())) {
            assertThat(recording.footer("zernel.recording").path("stop").asString()).isEqualTo("signal");
            long command = recording.number("SELECT max(pid) FROM events WHERE kind = 'process' AND name = 'exec'");
            assertThat(ProcessHandle.of(command)).isEmpty();
        }
        assertOnlyTheFile();
    }

    @Test
    void underSudoTheFileAndTheCommandAreTheUsers() throws IOException {
        Running.Outcome outcome = Recorder.recordTo(file(), "--", "sh", "-c", "id -u; id -g; id -G")
                .environment("SUDO_UID", NOBODY)
                .environment("SUDO_GID", NOBODY)
                .environment("SUDO_USER", "nobody")
                .run();
        assertThat(outcome.status()).as(outcome.toString()).isZero();
        assertThat(outcome.out()).containsExactly(NOBODY, NOBODY, NOBODY);
        assertThat(Files.getAttribute(file(), "unix:uid")).isEqualTo(65534);
        assertThat(Files.getAttribute(file(), "unix:gid")).isEqualTo(65534);
        assertOnlyTheFile();
    }

    @Test
    @Tag("alone")
    void theDurationIsKept() {
        try (Running target = Running.start("sleep", "60")) {
            Recorder.recordTo(file(), "-p", Long.toString(target.pid()), "-d", "1500ms").runWell();
            assertThat(target.isAlive()).isTrue();
        }
        try (Recording recording = Recording.open(file())) {
            long length = recording.footer("zernel.recording").path("ended_ns").asLong()
                    - recording.footer("zernel.recording").path("started_ns").asLong();
            assertThat(length).isBetween(1_400_000_000L, 4_000_000_000L);
        }
    }

    private static String probe() {
        return Programs.built("libcalls.so") + ":calls_push(number=arg1)";
    }

    private static void delete(Path file) {
        try {
            Files.delete(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void assertOnlyTheFile() {
        try (Stream<Path> left = Files.list(directory)) {
            assertThat(left).containsExactly(file());
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
