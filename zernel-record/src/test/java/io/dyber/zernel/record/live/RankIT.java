package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// What is kept of the environments of recorded processes, and what is not.
class RankIT {
    private static final String SECRET = "hush-4f1c9a7e";

    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
    }

    @Test
    void ranksAreKeptForLateChildrenTooAndSecretsAreNot() throws IOException {
        Path file = directory.resolve("run.parquet");
        // The recorder repeats the command: the word to wait for must not be in it.
        String job = "sleep 1; LOCAL_RANK=1 RANK=9 sleep 60 & child=$!; sleep 2; echo rea''dy; read line; kill $child";
        try (Running recorder = Recorder.recordTo(file, "--", "sh", "-c", job)
                .environment("RANK", "8")
                .environment("WORLD_SIZE", "16")
                .environment("TORCHELASTIC_RUN_ID", "run 7")
                .environment("HF_TOKEN", SECRET)
                .environment("RANK_SECRET", SECRET)
                .startRecording()) {
            recorder.awaitLine("ready");
            assertThat(bytesBelow(directory)).contains("TORCHELASTIC_RUN_ID").doesNotContain(SECRET);
            recorder.say("go on");
            assertThat(recorder.await().status()).isZero();
        }
        assertThat(bytesBelow(directory)).doesNotContain(SECRET);
        try (Recording recording = Recording.open(file)) {
            List<String> found = recording.footer("zernel.processes").valueStream()
                    .map(process -> process.path("cmdline").path(1).asString("") + " " + environment(process))
                    .toList();
            assertThat(found).contains(
                    "-c RANK=8, TORCHELASTIC_RUN_ID=run 7, WORLD_SIZE=16",
                    "60 LOCAL_RANK=1, RANK=9, TORCHELASTIC_RUN_ID=run 7, WORLD_SIZE=16");
            assertThat(rowsWith(recording, "sleep")).isPositive();
            assertThat(rowsWith(recording, SECRET)).isZero();
            assertThat(recording.number("SELECT count(*) FROM parquet_kv_metadata('" + file
                    + "') WHERE decode(value) LIKE '%" + SECRET + "%'"))
                    .isZero();
        }
    }

    private static long rowsWith(Recording recording, String text) {
        return recording.number("SELECT count(*) FROM events AS e WHERE e::VARCHAR LIKE '%" + text + "%'");
    }

    private static String environment(JsonNode process) {
        return process.path("environment").propertyStream()
                .map(variable -> variable.getKey() + "=" + variable.getValue().asString())
                .sorted()
                .collect(Collectors.joining(", "));
    }

    /// Everything that is written, byte for byte. The recorder may replace a file meanwhile: then all is read anew.
    private static String bytesBelow(Path folder) throws IOException {
        while (true) {
            StringBuilder all = new StringBuilder();
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    all.append(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
                }
                return all.toString();
            } catch (NoSuchFileException | UncheckedIOException _) {
                Running.pause(5);
            }
        }
    }
}
