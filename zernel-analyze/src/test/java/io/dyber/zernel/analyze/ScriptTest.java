package io.dyber.zernel.analyze;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The example of the Java API runs as it is.
class ScriptTest {
    private static final Path SCRIPT = Path.of("examples/DataWait.java");

    @TempDir
    Path folder;

    @Test
    void javaRunsTheScript() throws Exception {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        for (String line : Files.readAllLines(SCRIPT)) {
            if (line.startsWith("//RUNTIME_OPTIONS ")) {
                command.addAll(List.of(line.substring("//RUNTIME_OPTIONS ".length()).split(" ")));
            }
        }
        command.addAll(List.of("--class-path", System.getProperty("java.class.path"), SCRIPT.toString()));
        assertThat(output(command)).isEqualTo("pid 100 waits 15.0 ms of each step\n");
    }

    @Test
    void jbangRunsTheScript() throws Exception {
        Path home = Path.of(System.getProperty("user.home"));
        Path jbang = home.resolve(".jbang/bin/jbang");
        Path jar = home.resolve(".m2/repository/io/dyber/zernel/zernel-analyze/0.1.0/zernel-analyze-0.1.0.jar");
        if (!Files.exists(jbang) || !Files.exists(jar)) {
            System.out.println("skipped: needs " + jbang + " and an installed zernel-analyze (./mvnw install)");
        }
        assumeTrue(Files.exists(jbang) && Files.exists(jar));
        assertThat(output(List.of(jbang.toString(), "--quiet", SCRIPT.toString()))).endsWith("pid 100 waits 15.0 ms of each step\n");
    }

    private String output(List<String> command) throws IOException, InterruptedException {
        Path file = RecordingFixture.recording().training(12, 15).write(folder.resolve("run.parquet"));
        List<String> whole = new ArrayList<>(command);
        whole.add(file.toString());
        Process process = new ProcessBuilder(whole)
                .redirectError(folder.resolve("err").toFile())
                .start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(Files.readString(folder.resolve("err"))).isZero();
        return output.lines().filter(line -> line.startsWith("pid 100 waits")).findFirst().orElse(output) + "\n";
    }
}
