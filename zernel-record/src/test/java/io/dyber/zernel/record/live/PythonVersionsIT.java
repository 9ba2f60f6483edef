package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Programs with the structures of each version of CPython, for machines that have not all of them.
class PythonVersionsIT {
    @TempDir
    private Path directory = Path.of("");

    @ParameterizedTest
    @ValueSource(ints = {11, 12, 13, 14})
    void theNameIsFoundFromTheFrame(int minor) {
        Needs.bpf();
        Path file = directory.resolve("run.parquet");
        try (Running program = Running.start(built(minor).toString())) {
            program.awaitLine("ready");
            Recorder recorder =
                    Recorder.recordTo(file, "-p", Long.toString(program.pid()), "--probe", "py_call:*");
            try (Running recording = recorder.startRecording()) {
                program.say("go");
                assertThat(program.await().status()).isZero();
                assertThat(recording.await().status()).isZero();
            }
        }
        try (Recording recording = Recording.open(file)) {
            assertThat(recording.rows("SELECT name FROM events WHERE kind = 'py_call' ORDER BY ts_ns"))
                    .containsExactly("Job.first", "Job.second", "Job.second", "<not ASCII>");
        }
    }

    private Path built(int minor) {
        Path library = directory.resolve("libpython3." + minor + ".so.1.0");
        Path program = directory.resolve("interpret");
        gcc(minor, "-shared", "-fPIC", "-o", library.toString(), Programs.source("interpreter.c"));
        gcc(minor, "-o", program.toString(), Programs.source("interpret.c"), library.toString(), "-Wl,-rpath," + directory);
        return program;
    }

    private static void gcc(int minor, String... arguments) {
        String[] command = new String[arguments.length + 3];
        command[0] = "gcc";
        command[1] = "-O1";
        command[2] = "-DMINOR=" + minor;
        System.arraycopy(arguments, 0, command, 3, arguments.length);
        try (Running gcc = Running.start(command)) {
            Running.Outcome outcome = gcc.await();
            assertThat(outcome.status()).as(outcome.toString()).isZero();
        }
    }
}
