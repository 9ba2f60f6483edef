package io.dyber.zernel.record.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// Compiles small libraries for tests; without a gcc on the PATH the test is skipped.
public final class Gcc {
    private Gcc() {}

    /// Compiles C source to `folder/name`, a shared library unless the arguments say otherwise.
    public static Path compile(Path folder, String name, String source, String... arguments)
            throws IOException, InterruptedException {
        assumeTrue(onPath("gcc"), "gcc is not installed");
        Path input = Files.writeString(folder.resolve(name + ".c"), source);
        Path output = folder.resolve(name);
        List<String> command = new ArrayList<>(List.of("gcc", "-o", output.toString(), input.toString()));
        command.addAll(List.of(arguments));
        run(command);
        return output;
    }

    /// Runs a tool of binutils.
    public static String run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as("%s: %s", command, output).isZero();
        return output;
    }

    public static boolean onPath(String tool) {
        return Stream.of(System.getenv("PATH").split(":")).anyMatch(dir -> Files.isExecutable(Path.of(dir, tool)));
    }
}
