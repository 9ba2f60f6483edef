package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Collections of a running Python, against what it tells its own callbacks.
@ParameterizedClass
@MethodSource("interpreters")
class GarbageCollectionIT {
    private static Recording recording = Recording.none();
    private static JsonNode told = JsonMapper.shared().createObjectNode();

    private final String python;

    GarbageCollectionIT(String python) {
        this.python = python;
    }

    /// The usual one, that of the system, which may have nothing but tracepoints, and those of other versions.
    static Stream<String> interpreters() {
        Needs.bpf();
        return Stream.of(
                        Stream.of(Needs.python("gc")),
                        Stream.of("/usr/bin/python3").filter(GarbageCollectionIT::works),
                        IntStream.rangeClosed(8, 14).mapToObj(minor -> "python3." + minor).filter(GarbageCollectionIT::works))
                .flatMap(all -> all);
    }

    private static boolean works(String command) {
        try {
            return new ProcessBuilder(command, "-c", "import gc").redirectErrorStream(true).start().waitFor() == 0;
        } catch (IOException _) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted", e);
        }
    }

    @BeforeParameterizedClassInvocation
    static void record(String python, @TempDir Path directory) {
        Path file = directory.resolve("run.parquet");
        try (Running script = Running.start(python, Programs.source("gc.py"))) {
            script.awaitLine("ready");
            Recorder recorder = Recorder.recordTo(file, "-p", Long.toString(script.pid()));
            try (Running recording = recorder.startRecording()) {
                script.say("go");
                Running.Outcome ended = script.await();
                assertThat(ended.status()).as(ended.toString()).isZero();
                told = Truth.of(ended.out()).only();
                assertThat(recording.await().status()).isZero();
            }
        }
        recording = Recording.open(file);
    }

    @AfterParameterizedClassInvocation
    static void close() {
        recording.close();
    }

    @Test
    void eachCollectionThatWasAskedForIsARow() {
        String name = isOfTracepoints() ? "collection" : "gc.collect";
        List<String> rows = recording.rows(
                "SELECT name, generation, dur_ns >= 100000, tid = pid FROM events WHERE kind = 'gc' ORDER BY ts_ns");
        assertThat(rows).as(python).hasSizeGreaterThanOrEqualTo(5);
        assertThat(rows.subList(0, 5)).as(python).containsOnly(name + " 2 true true");
    }

    /// Where the function is probed, only those of all objects are rows, and in these versions there may be no other.
    @Test
    void othersAreAutomatic() {
        JsonNode last = told.path("collections").path(told.path("collections").size() - 1);
        List<String> names = recording.rows("""
                SELECT DISTINCT name FROM (FROM events WHERE kind = 'gc' AND ts_ns < %d ORDER BY ts_ns OFFSET 5)
                """.formatted(onClock(last.path(2))));
        assertThat(names).as(python).isSubsetOf(isOfTracepoints() ? "collection" : "automatic");
    }

    /// Some versions call the callbacks inside the collection, others around it: its end is between them in all.
    @Test
    void aCollectionLastsAsPythonSays() {
        for (JsonNode one : told.path("collections")) {
            List<String> rows = recording.rows("""
                    SELECT generation, coalesce(count, %3$d) FROM events
                    WHERE kind = 'gc' AND ts_ns + dur_ns BETWEEN %1$d AND %2$d
                    """.formatted(onClock(one.path(1)), onClock(one.path(2)), one.path(3).asLong()));
            String expected = one.path(0).asString() + " " + one.path(3).asString();
            boolean full = one.path(0).asInt() == 2;
            assertThat(rows).as(python + ": " + one).isSubsetOf(expected).hasSizeBetween(full ? 1 : 0, 1);
        }
    }

    private static long onClock(JsonNode monotonic) {
        return monotonic.asLong() + recording.footer("zernel.clock").path("offset_ns").asLong();
    }

    @Test
    void eachCollectionIsCounted() {
        List<JsonNode> probes = recording.footer("zernel.probes").valueStream()
                .filter(probe -> probe.path("kind").asString().equals("gc"))
                .toList();
        assertThat(probes).as(python).anySatisfy(probe -> assertThat(probe.path("entries").asLong())
                .isGreaterThanOrEqualTo(told.path("collections").size()));
        assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isTrue();
    }

    private static boolean isOfTracepoints() {
        return recording.footer("zernel.probes").valueStream()
                .anyMatch(probe -> probe.path("symbol").asString().equals("python:gc__done"));
    }
}
