package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.recording.Readers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// The file as other tools read it: the same rows, and a footer that explains them.
class InteropIT {
    @TempDir
    private Path directory = Path.of("");

    @Test
    void everyReaderReadsTheSameRows() throws IOException, InterruptedException {
        Needs.bpf();
        Path file = directory.resolve("run.parquet");
        Running.Outcome recorded = Recorder.recordTo(file)
                .with("--probe", Programs.built("libcalls.so") + ":calls_push(number=arg1, thread=arg2:u32)")
                .with("--", Programs.built("calls").toString(), "2500")
                .run();
        assertThat(recorded.status()).as(recorded.toString()).isEqualTo(5);

        try (Recording recording = Recording.open(file)) {
            assertThat(recording.number("SELECT count(*) FROM events WHERE kind = 'call'")).isEqualTo(10_000);
        }
        Readers.Seen seen = Readers.duckDb(file);
        for (String reader : List.of("pyarrow", "duckdb", "polars", "pandas")) {
            assertThat(Readers.python(reader, file)).as(reader).isEqualTo(seen);
        }
    }

    @Test
    void theFooterNamesUnitAndMeaningOfEveryColumn() {
        Needs.bpf();
        String python = Needs.python("pyarrow");
        Path file = directory.resolve("run.parquet");
        assertThat(Recorder.recordTo(file, "--", "true").run().status()).isZero();

        JsonNode read = read(python, file);
        JsonNode columns = read.path("footer").path("zernel.schema").path("columns");
        List<String> described = columns.valueStream()
                .map(column -> column.path("name").asString() + " " + column.path("type").asString())
                .toList();
        assertThat(read.path("columns").valueStream().map(JsonNode::asString)).containsExactlyElementsOf(described);
        assertThat(columns.valueStream())
                .allSatisfy(column -> assertThat(column.path("comment").asString()).isNotBlank());
        assertThat(columns.valueStream()
                        .filter(column -> column.path("unit").asString().equals("ns"))
                        .map(column -> column.path("name").asString()))
                .containsExactly("ts_ns", "dur_ns", "io_ns", "runq_ns", "period_ns", "launch_ns");
        assertThat(read.path("footer").propertyNames())
                .contains(
                        "zernel.format",
                        "zernel.recording",
                        "zernel.clock",
                        "zernel.schema",
                        "zernel.kinds",
                        "zernel.probes",
                        "zernel.losses",
                        "zernel.processes");
    }

    private static JsonNode read(String python, Path file) {
        try (Running reader = Running.start(python, Programs.source("read.py"), file.toString())) {
            Running.Outcome outcome = reader.await();
            assertThat(outcome.status()).as(outcome.toString()).isZero();
            return Truth.of(outcome.out()).only();
        }
    }
}
