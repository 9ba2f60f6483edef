package io.dyber.zernel.analyze.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.duckdb.Table;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.core.json.JsonReadFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Traces that others published, beside what HTA (Holistic Trace Analysis) 0.5.0 says of each: `-Dzernel.traces=FOLDER`.
///
/// HTA leaves out the last `ProfilerStep` and what it launched, and activities whose launch is not in the trace; so do
/// the copies that are compared. It rounds times to microseconds.
class PublicTracesTest {
    private static final Path TRACES = Path.of(System.getProperty("zernel.traces", "../../shared/traces"), "kineto");
    private static final JsonMapper JSON =
            JsonMapper.builder().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();

    @TempDir
    Path folder;

    private static Stream<JsonNode> expectations() throws IOException {
        Path expected = TRACES.resolve("hta-expected.jsonl");
        return Files.exists(expected)
                ? Files.readAllLines(expected).stream().<JsonNode>map(JSON::readTree).filter(line -> line.has("temporal"))
                : Stream.of(JSON.createObjectNode());
    }

    @ParameterizedTest
    @MethodSource("expectations")
    void timesAreThoseOfHta(JsonNode expected) throws IOException {
        assumeTrue(expected.has("file"), "no public traces in " + TRACES);
        JsonNode temporal = expected.path("temporal");
        try (Database database = Recordings.open(asHtaCutsIt(expected.path("file").asString()).toString())) {
            Table.Row time = database.query("SELECT 100 * idle_share AS idle, 100 * compute_ns / profiled_ns AS compute, "
                            + "100 * coalesce(hidden_share, 0) AS overlap FROM gpu_time")
                    .only();
            assertThat(time.real("idle")).isCloseTo(temporal.path("idle_time_pctg").asDouble(), within(1.0));
            assertThat(time.real("compute")).isCloseTo(temporal.path("compute_time_pctg").asDouble(), within(1.0));
            JsonNode overlap = expected.path("overlap").path("comp_comm_overlap_pctg");
            double hidden = Double.isFinite(overlap.asDouble(0)) ? overlap.asDouble(0) : 0;
            assertThat(time.real("overlap")).isCloseTo(hidden, within(1.0));
            for (JsonNode idle : expected.path("idle")) {
                double whole = idle.path("idle_time").asDouble();
                Table.Row ours = database.query("SELECT coalesce(sum(idle_ns) / 1e3, 0) AS us FROM gpu_stream_idle "
                                + "WHERE stream = ? AND cause = ?",
                        idle.path("stream").asLong(), idle.path("idle_category").asString().replace('_', ' ')).only();
                assertThat(ours.real("us")).isCloseTo(whole, within(Math.max(0.01 * temporal.path("kernel_time(us)").asDouble(), 5)));
            }
        }
    }

    @Test
    void tracesThatHtaFailsOnAreRead() {
        for (String file : List.of("hta-no-gpu.json.gz", "hta-no-distributed-info.json.gz")) {
            assumeTrue(Files.exists(TRACES.resolve(file)), "no public traces in " + TRACES);
            try (Database database = Recordings.open(TRACES.resolve(file).toString())) {
                assertThat(database.query("SELECT dur_ns FROM steps").only().integer("dur_ns")).isEqualTo(75_473_000);
            }
        }
    }

    @Test
    void whatIsFoundIsWhatTheTracesShow() {
        assumeTrue(Files.exists(TRACES), "no public traces in " + TRACES);
        assertThat(found("hta-nccl-data.json.gz")).startsWith("gpu_starved");
        assertThat(found("hta-df-index-resolver.json.gz")).startsWith("exposed_communication", "gpu_starved");
        // Ten copies a step wait for the GPU, 12.6 ms in sum, and it is idle for 15.9 ms.
        assertThat(found("hta-diff-control.json.gz")).containsExactly("exposed_communication", "sync_bound");
    }

    private static List<String> found(String file) {
        try (Database database = Recordings.open(TRACES.resolve(file).toString())) {
            return database.diagnose().findings().stream().map(finding -> finding.name()).toList();
        }
    }

    private Path asHtaCutsIt(String file) throws IOException {
        ObjectNode trace;
        try (InputStream stream = new GZIPInputStream(Files.newInputStream(TRACES.resolve(file)))) {
            trace = (ObjectNode) JSON.readTree(stream);
        }
        JsonNode events = trace.path("traceEvents");
        long steps = events.valueStream().filter(PublicTracesTest::isStep).count();
        double last = events.valueStream()
                .filter(PublicTracesTest::isStep)
                .mapToDouble(step -> step.path("ts").asDouble())
                .max()
                .orElse(0);
        Set<Long> kept = new HashSet<>();
        events.valueStream()
                .filter(event -> Set.of("cuda_runtime", "cuda_driver").contains(event.path("cat").asString("")))
                .filter(call -> steps < 2 || call.path("ts").asDouble() < last)
                .forEach(call -> kept.add(call.path("args").path("correlation").asLong()));
        ArrayNode cut = JSON.createArrayNode();
        events.valueStream()
                .filter(event -> !Set.of("kernel", "gpu_memcpy", "gpu_memset").contains(event.path("cat").asString(""))
                        || kept.contains(event.path("args").path("correlation").asLong()))
                .forEach(cut::add);
        trace.set("traceEvents", cut);
        Path target = folder.resolve("cut.json");
        try (OutputStream stream = Files.newOutputStream(target)) {
            JSON.writeValue(stream, trace);
        }
        return target;
    }

    private static boolean isStep(JsonNode event) {
        return event.path("name").asString("").startsWith("ProfilerStep#") && !event.path("cat").asString("").startsWith("gpu");
    }
}
