package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.recording.Duck;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A password on a command line, and where it does not come to lie.
class RedactIT {
    private static final String SECRET = "hunter2-token";

    @TempDir
    private Path directory = Path.of("");

    @BeforeEach
    void needs() {
        Needs.bpf();
    }

    private Path file() {
        return directory.resolve("run.parquet");
    }

    /// The shell, the program it starts and the recorder itself all have the secret in their arguments.
    private Running record(String... options) {
        String script = "echo u''p; read line; sh -c 'sleep 0.2' " + SECRET + "; exit 0";
        return Recorder.recordTo(file(), options).with("--", "sh", "-c", script, SECRET).startRecording();
    }

    private boolean liveFolderHolds(String text) throws IOException {
        try (Stream<Path> files = Files.list(directory.resolve("run.parquet.live"))) {
            for (Path live : files.toList()) {
                if (new String(Files.readAllBytes(live), StandardCharsets.ISO_8859_1).contains(text)) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean footerHolds(String text) {
        return Duck.query(file(), "SELECT decode(value) FROM parquet_kv_metadata($file)").stream()
                .anyMatch(row -> String.valueOf(row.getFirst()).contains(text));
    }

    private List<?> rowsWith(String text) {
        return Duck.query(file(), "SELECT * FROM (SELECT to_json(e) AS row FROM $file AS e) WHERE contains(row, '" + text + "')");
    }

    @Test
    void argumentsAreNowhereInARedactedRecording() throws IOException {
        try (Running recording = record("--redact")) {
            recording.awaitLine("up");
            assertThat(liveFolderHolds("zernel.processes")).isTrue();
            assertThat(liveFolderHolds(SECRET)).isFalse();
            recording.say("go");
            assertThat(recording.await().status()).isZero();
        }
        assertThat(footerHolds(SECRET)).isFalse();
        assertThat(rowsWith(SECRET)).isEmpty();
        assertThat(footerHolds("\"command\":[\"sh\"],\"arguments\":3,\"redacted\":true")).isTrue();
        assertThat(footerHolds("\"cmdline\":[\"sh\"],\"arguments\":3,\"redacted\":true")).isTrue();
    }

    @Test
    void withoutRedactTheyAreInTheFooter() {
        try (Running recording = record()) {
            recording.say("go");
            assertThat(recording.await().status()).isZero();
        }
        assertThat(footerHolds(SECRET)).isTrue();
    }
}
