package io.dyber.zernel.serve.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// `zernel serve --simulate`, stopped by a signal while its recorder, here a script, still makes the recording: it ends
/// with the signal's exit code, says nothing and leaves nothing behind.
final class StoppedStartTest {
    @TempDir
    private Path home;

    @ParameterizedTest
    @CsvSource({"TERM, 143", "INT, 130", "HUP, 129"})
    void whoIsToldAloneStopsTheRecorder(String signal, int status) throws Exception {
        recorder("kill -" + signal + " $PPID; exec sleep 60");
        assertEndsQuietly(status);
    }

    @Test
    void theRecorderMayBeToldFirst() throws Exception {
        recorder("exit 130");
        assertEndsQuietly(130);
    }

    @Test
    void whatTheSignalBreaksIsNoError() throws Exception {
        recorder("trap '' TERM; kill -TERM $PPID; sleep 1; exit 143");
        assertEndsQuietly(143);
    }

    @Test
    void aRecorderThatFailsIsOne() throws Exception {
        recorder("exit 1");
        assertThat(serve()).isEqualTo("1: zernel serve: simulating 'healthy': zernel-record ended with status 1\n");
    }

    private void assertEndsQuietly(int status) throws Exception {
        assertThat(serve()).isEqualTo(status + ": ");
        assertThat(home.resolve("tmp")).isEmptyDirectory();
    }

    /// The exit code and the output.
    private String serve() throws IOException, InterruptedException {
        Files.createDirectory(home.resolve("tmp"));
        Process process = new ProcessBuilder(
                        // A shell in the background starts its children with SIGINT ignored, nohup with SIGHUP.
                        "env",
                        "--default-signal=INT,HUP",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Djava.io.tmpdir=" + home.resolve("tmp"),
                        "-Dzernel.home=" + home,
                        "-cp",
                        System.getProperty("java.class.path"),
                        "io.dyber.zernel.serve.cli.Zernel",
                        "serve",
                        "--simulate")
                .redirectErrorStream(true)
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return process.waitFor() + ": " + output;
    }

    private void recorder(String script) throws IOException {
        Path bin = Files.createDirectory(home.resolve("bin"));
        Path file = Files.writeString(bin.resolve("zernel-record"), "#!/bin/sh\n" + script + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
