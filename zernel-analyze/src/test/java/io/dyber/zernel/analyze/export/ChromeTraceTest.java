package io.dyber.zernel.analyze.export;

import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.Recordings;
import io.dyber.zernel.analyze.TraceFixture;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ChromeTraceTest {
    @TempDir
    Path folder;

    @Test
    void aCallIsACompleteEventInMicroseconds() throws IOException {
        List<JsonNode> events = trace(recording().region("a \"b\"\n", 1.000001, 2.5).event(
                "io", "read", 0.5, 0.25, "bytes = 70, path = '/data/ü'"));
        assertThat(events).extracting(JsonNode::toString).contains(
                "{\"ph\":\"X\",\"cat\":\"region\",\"name\":\"a \\\"b\\\"\\n\",\"pid\":100,\"tid\":100,\"ts\":1000.001,"
                        + "\"dur\":2500.0,\"args\":{\"cpu\":1}}",
                "{\"ph\":\"X\",\"cat\":\"io\",\"name\":\"read\",\"pid\":100,\"tid\":100,\"ts\":500.0,\"dur\":250.0,"
                        + "\"args\":{\"cpu\":1,\"bytes\":70,\"path\":\"/data/ü\"}}");
    }

    @Test
    void processesAndThreadsHaveNames() throws IOException {
        List<JsonNode> events = trace(recording().region("a", 1, 1).on(100, 101, "pin_memory").io(1, 1, 7)
                .footer("zernel.processes", "[{\"pid\":100,\"cmdline\":[\"python3\",\"t.py\"],\"environment\":{\"RANK\":\"3\"}}]"));
        assertThat(metadata(events)).contains(
                "process_name 100/100 rank 3: python3",
                "process_labels 100/100 python3 t.py",
                "thread_name 100/100 python3",
                "thread_name 100/101 pin_memory");
    }

    @Test
    void whatIsNoCallHasNoLength() throws IOException {
        assertThat(trace(recording().torchAlloc(2, 64))).extracting(JsonNode::toString)
                .contains("{\"ph\":\"i\",\"cat\":\"torch_alloc\",\"name\":\"pytorch:malloc\",\"pid\":100,\"tid\":100,"
                        + "\"ts\":2000.0,\"s\":\"t\",\"args\":{\"cpu\":1,\"bytes\":64,\"device\":0}}");
    }

    @Test
    void callsThatOverlapAreOnTracksOfTheirOwn() throws IOException {
        List<JsonNode> events = trace(recording().event("io", "io_uring_read", 0, 10.0, "").event("io", "io_uring_read", 5, 10.0, "")
                .event("io", "io_uring_read", 6, 2.0, "").event("io", "io_uring_read", 15, 1.0, ""));
        assertThat(complete(events, "io")).extracting(event -> event.path("tid").asLong())
                .containsExactly(100L, 1L << 31, 100L, 100L);
        assertThat(metadata(events)).contains("thread_name 100/2147483648 python3 100 overlapping");
    }

    @Test
    void stepsAndPhasesHaveTracks() throws IOException {
        List<JsonNode> events = trace(recording().training(2, 15));
        assertThat(complete(events, "steps")).extracting(event -> event.path("name").asString())
                .containsExactly("step 1", "step 2");
        assertThat(complete(events, "steps").getLast().path("args").path("data_loading_ns").asLong()).isEqualTo(15_000_000);
        assertThat(complete(events, "phases").stream().limit(4))
                .extracting(event -> event.path("name").asString() + " " + event.path("dur").asLong())
                .containsExactly("DataLoading 15000", "GpuCompute 30000", "OptimizerStep 5000", "DataLoading 15000");
        assertThat(metadata(events)).contains("thread_name 100/2147483648 steps", "thread_name 100/2147483649 phases");
    }

    @Test
    void memoryAndGpusAndOutstandingCollectivesAreCounters() throws IOException {
        List<JsonNode> events = trace(recording().gpuAlloc(1, 1, 500, 0).gpuFree(3, 1, "500").torchAlloc(2, 64)
                .allReduce(0, 0, 10, 1, 8).allReduce(0, 1, 12, 1, 8).sync(14, 2).sync(20, 1)
                .gpuSample("utilization", 5, 37, "percent"));
        assertThat(events.stream().filter(event -> event.path("ph").asString().equals("C")))
                .extracting(event -> event.path("name").asString() + " " + event.path("ts").asLong() + " " + event.path("args"))
                .containsExactly(
                        "memory allocated, GPU 0 2000 {\"bytes\":500}",
                        "memory allocated, GPU 0 4000 {\"bytes\":0}",
                        "memory of tensors, GPU 0 2000 {\"bytes\":64}",
                        "outstanding collectives, communicator 77 10000 {\"collectives\":1}",
                        "outstanding collectives, communicator 77 12000 {\"collectives\":2}",
                        "outstanding collectives, communicator 77 16000 {\"collectives\":0}",
                        "GPU 0 utilization 5000 {\"percent\":37}");
    }

    @Test
    void collectivesOfSeveralRanksAreConnectedByTime() throws IOException {
        RecordingFixture fixture = recording().allReduce(0, 0, 10, 1, 8).allReduce(0, 1, 30, 1, 8)
                .on(101, 101, "python3").allReduce(1, 0, 12, 1, 8);
        assertThat(trace(fixture).stream().filter(event -> event.has("id")))
                .extracting(event -> event.path("ph").asString() + event.path("id") + " " + event.path("pid") + " "
                        + event.path("ts").asLong())
                .containsExactly("s1 100 10000", "f1 101 12000");
    }

    @Test
    void recordingsWithTheSameProcessesAreApart() throws IOException {
        String first = recording().region("a", 1, 1).write(folder.resolve("a.parquet")).toString();
        String second = recording().region("b", 1, 1).write(folder.resolve("b.parquet")).toString();
        assertThat(complete(trace(first, second), "region"))
                .extracting(event -> event.path("name").asString() + event.path("pid") + "/" + event.path("tid"))
                .containsExactly("a100/100", "b4194404/4194404");
    }

    @Test
    void whatRanOnTheGpuIsOnTheTracksOfItsStreams() throws IOException {
        String run = recording().region("a", 1, 1).write(folder.resolve("run.parquet")).toString();
        String traced = TraceFixture.trace(100).kernel("gemm", 7, 1, 2, 3).kernel("add", 20, 1, 4, 1)
                .kernel("relu", 7, 1, 6, 1).write(folder.resolve("trace.json")).toString();
        List<JsonNode> events = trace(run, traced);
        assertThat(complete(events, "gpu_kernel"))
                .extracting(event -> event.path("name").asString() + " on " + event.path("tid").asLong())
                .containsExactly("gemm on 2147483648", "add on 2147483649", "relu on 2147483648");
        assertThat(metadata(events)).contains(
                "thread_name 100/2147483648 GPU 0 stream 7", "thread_name 100/2147483649 GPU 0 stream 20");
    }

    @Test
    void aStreamThatEndsIsAnErrorOfTheStream() throws IOException {
        ExportFormat.OfTrace<ChromeTrace> chrome = new ExportFormat.OfTrace<>((_, selection) -> new ChromeTrace(broken(), selection), Trace::write);
        try (Database database = Recordings.open(recording().training(200, 15).write(folder.resolve("run.parquet")).toString());
                OutputFile file = new OutputFile(folder.resolve("run.json").toString(), false)) {
            Selection selection = Selection.of(database, List.of(), List.of(), null, null);
            assertThatThrownBy(() -> chrome.write(database, selection, file, _ -> {}))
                    .isExactlyInstanceOf(IOException.class)
                    .hasMessage("Broken pipe");
        }
    }

    private static OutputStream broken() {
        return new OutputStream() {
            @Override
            public void write(int one) throws IOException {
                throw new IOException("Broken pipe");
            }
        };
    }

    private List<JsonNode> trace(RecordingFixture fixture) throws IOException {
        return trace(fixture.write(folder.resolve("run.parquet")).toString());
    }

    private static List<JsonNode> trace(String... files) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (Database database = Recordings.open(files)) {
            Selection selection = Selection.of(database, List.of(), List.of(), null, null);
            try (ChromeTrace trace = new ChromeTrace(out, selection)) {
                Trace.write(database, selection, trace, _ -> {});
            }
        }
        List<JsonNode> events = new ArrayList<>();
        new JsonMapper().readTree(out.toByteArray()).path("traceEvents").forEach(events::add);
        return events;
    }

    private static List<JsonNode> complete(List<JsonNode> events, String category) {
        return events.stream()
                .filter(event -> event.path("ph").asString().equals("X") && event.path("cat").asString().equals(category))
                .toList();
    }

    private static Stream<String> metadata(List<JsonNode> events) {
        return events.stream()
                .filter(event -> event.path("ph").asString().equals("M"))
                .map(event -> event.path("name").asString() + " " + event.path("pid") + "/" + event.path("tid") + " "
                        + event.path("args").iterator().next().asString());
    }
}
