package io.dyber.zernel.record.recording;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/// What `zernel-record recover` does with folders that no recorder wrote: each gives a file or one clear error, in a JVM
/// with 96 MiB, and in time. `-Dzernel.fuzz=N` tries N of them, `-Dzernel.fuzz.seed=N` from that one on.
class HostileRecordingTest {
    private static final long COUNT = Long.getLong("zernel.fuzz", 500);
    private static final long SEED = Long.getLong("zernel.fuzz.seed", 0);

    @Test
    void damagedAndForgedFoldersGiveAFileOrOneError() throws IOException, InterruptedException {
        // Not a TempDir: the folder that failed stays.
        Path folder = Files.createTempDirectory("zernel-hostile-");
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Xmx96m",
                "-cp",
                System.getProperty("java.class.path"),
                HostileRecordings.class.getName(),
                folder.toString(),
                Long.toString(SEED),
                Long.toString(COUNT));
        Process fuzz = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(fuzz.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(fuzz.waitFor()).as(output).isZero();
        assertThat(output).contains(" recovered\n", " refused: ");
        Files.delete(folder);
    }
}
