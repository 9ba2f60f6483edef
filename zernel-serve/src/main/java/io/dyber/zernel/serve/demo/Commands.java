package io.dyber.zernel.serve.demo;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// Short commands whose answer is what they print.
final class Commands {
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private Commands() {}

    /// What `command` prints; empty when it does not exist, ends with another status than 0, or takes too long.
    static Optional<String> output(List<String> command) {
        try {
            Path out = Files.createTempFile("zernel-demo", ".out");
            try {
                Process process = new ProcessBuilder(command)
                        .redirectInput(Path.of("/dev/null").toFile())
                        .redirectOutput(out.toFile())
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
                if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                    process.destroyForcibly();
                    return Optional.empty();
                }
                return process.exitValue() == 0
                        ? Optional.of(Files.readString(out, StandardCharsets.UTF_8))
                        : Optional.empty();
            } finally {
                Files.deleteIfExists(out);
            }
        } catch (IOException _) {
            return Optional.empty();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
