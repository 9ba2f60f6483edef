package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// What is recorded where the kernel lacks a tracepoint: by objects that ask for one that is nowhere.
class OlderKernelIT {
    private static final Path BUILT = Path.of("../bpf/prebuilt/x86_64");

    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
    }

    /// The objects that ask for this tracepoint, asking for another, in a folder for the class path.
    private Path without(String tracepoint) throws IOException {
        Path folder = Files.createDirectories(directory.resolve("objects/bpf/x86_64"));
        try (Stream<Path> objects = Files.list(BUILT)) {
            for (Path object : objects.toList()) {
                String content = Files.readString(object, StandardCharsets.ISO_8859_1);
                String other = content.replace("tp_btf/" + tracepoint, "tp_btf/no" + tracepoint.substring(2));
                if (!other.equals(content)) {
                    Files.writeString(folder.resolve(String.valueOf(object.getFileName())), other, StandardCharsets.ISO_8859_1);
                }
            }
        }
        return directory.resolve("objects");
    }

    /// Before 6.12.
    @Test
    void withoutATracepointOfPageFaultsReadsStillTellWhatThePageCacheDidNotHold() throws IOException {
        Path file = directory.resolve("run.parquet");
        Path data = Files.write(directory.resolve("data"), new byte[100]);
        Running.Outcome outcome = Recorder.recordTo(file, "--kinds", "io", "--", "cat", data.toString())
                .before(List.of(without("mm_filemap_fault")))
                .run();
        assertThat(outcome.status()).as(outcome.toString()).isZero();
        try (Recording recording = Recording.open(file)) {
            assertThat(recording.rows("SELECT name, miss_bytes FROM events WHERE kind = 'io' AND bytes = 100 AND path = '"
                            + data.toRealPath() + "'"))
                    .containsExactly("read 0");
            assertThat(recording.footer("zernel.recording").path("incomplete_because").valueStream()
                            .map(JsonNode::asString))
                    .singleElement()
                    .asString()
                    .startsWith("page faults of kind 'io' are not there: loading BPF object 'faults': ");
        }
    }
}
