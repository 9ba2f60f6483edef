package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A PyTorch training in two threads, against what torch.profiler records of the same steps.
class OperatorsIT {
    private static Recording recording = Recording.none();
    private static JsonNode profiled = JsonMapper.shared().createObjectNode();

    @BeforeAll
    static void record(@TempDir Path directory) {
        Needs.bpf();
        String python = Needs.python("torch");
        Path file = directory.resolve("run.parquet");
        try (Running training = Running.start(python, Programs.source("operators.py"), "--threads", "2")) {
            training.awaitLine("ready");
            Recorder recorder = Recorder.recordTo(file, "-p", Long.toString(training.pid()), "--probe", "torch_op:*");
            try (Running recording = recorder.startRecording()) {
                training.say("go");
                Running.Outcome trained = training.await();
                assertThat(trained.status()).as(trained.toString()).isZero();
                profiled = Truth.of(trained.out()).only();
                assertThat(recording.await().status()).isZero();
            }
        }
        recording = Recording.open(file);
    }

    @AfterAll
    static void close() {
        recording.close();
    }

    @Test
    void whatTheProfilerDoesForItselfIsRecorded() {
        assertThat(recording.rows("""
                SELECT name, count(*), count(dur_ns) FROM events
                WHERE kind = 'region' AND name LIKE '%profiler::%' GROUP BY name ORDER BY min(ts_ns)
                """)).containsExactly(
                "torch::autograd::profiler::prepareProfiler 1 1",
                "torch::autograd::profiler::enableProfiler 1 1",
                "torch::autograd::profiler::disableProfiler 1 1");
    }

    @Test
    void namesAndCountsAreThoseOfTheProfiler() {
        Map<String, Long> recorded = new HashMap<>();
        recording.rows("""
                SELECT name, count(*) FROM events WHERE kind = 'torch_op' AND ts_ns BETWEEN %d AND %d GROUP BY name
                """.formatted(profiled.path("began_ns").asLong(), profiled.path("ended_ns").asLong()))
                .forEach(row -> recorded.put(row.split(" ")[0], Long.valueOf(row.split(" ")[1])));
        Map<String, Long> counted = new HashMap<>();
        profiled.path("counts").properties().forEach(count -> counted.put(count.getKey(), count.getValue().asLong()));

        assertThat(counted).hasSizeGreaterThan(100).containsEntry("aten::conv2d", 10L);
        assertThat(recorded).isEqualTo(counted);
    }

    /// The profiler's tables leave out a call that is the only one its caller of the same name makes, such as that of
    /// `div_` with a tensor by `div_` with a number.
    @Test
    void theProfilersTablesHaveTheSameNames() {
        assertThat(recording.rows("SELECT DISTINCT name FROM events WHERE kind = 'torch_op'"))
                .containsExactlyInAnyOrderElementsOf(profiled.path("table").propertyNames());
    }

    @Test
    void everyCallHasADurationAndAThread() {
        assertThat(recording.rows("""
                SELECT count(*) = count(dur_ns), count(DISTINCT tid), count(DISTINCT pid) FROM events
                WHERE kind = 'torch_op'
                """)).containsExactly("true 2 1");
        assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isTrue();
    }

    /// Those that only other programs called meanwhile have calls, too, which were left out.
    @Test
    void theFooterListsTheOperatorsThatWereCalled() {
        assertThat(recording.footer("zernel.probes").valueStream()
                        .filter(probe -> probe.path("kind").asString().equals("torch_op"))
                        .filter(probe -> probe.path("entries").asLong() > probe.path("filtered").asLong())
                        .map(probe -> probe.path("name").asString())
                        .distinct())
                .containsExactlyInAnyOrderElementsOf(
                        recording.rows("SELECT DISTINCT name FROM events WHERE kind = 'torch_op'"));
    }

    /// The compiler that built PyTorch frees temporaries at the end of nearly all of them.
    @Test
    void nearlyNoCallTakesADebugTrap() {
        Map<String, Long> costs = recording.footer("zernel.probes").valueStream()
                .filter(probe -> probe.path("entries").asLong() > 0)
                .filter(probe -> List.of("torch_op", "region", "backward").contains(probe.path("kind").asString()))
                .filter(probe -> !probe.path("symbol").asString().contains("Profiler"))
                .collect(Collectors.groupingBy(
                        probe -> String.join(
                                " ",
                                probe.path("kind").asString(),
                                probe.path("cost").asString(),
                                probe.path("end").asString()),
                        Collectors.counting()));
        assertThat(costs).containsKeys("region emulated return", "region emulated none", "backward emulated early");
        assertThat(costs.getOrDefault("torch_op emulated exits", 0L))
                .isLessThan(costs.getOrDefault("torch_op emulated early", 0L) / 5);
        assertThat(costs.keySet()).allMatch(cost -> cost.contains("emulated"));
    }
}
