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

/// A Python script whose functions are called from C, against what they count themselves.
@ParameterizedClass
@MethodSource("interpreters")
class PythonIT {
    private static Recording recording = Recording.none();
    private static JsonNode counted = JsonMapper.shared().createObjectNode();

    private final String python;

    PythonIT(String python) {
        this.python = python;
    }

    /// The usual one, and those of other versions that are installed.
    static Stream<String> interpreters() {
        Needs.bpf();
        return Stream.concat(
                Stream.of(Needs.python("ctypes")),
                IntStream.rangeClosed(11, 14).mapToObj(minor -> "python3." + minor).filter(PythonIT::works));
    }

    private static boolean works(String command) {
        try {
            return new ProcessBuilder(command, "-c", "import ctypes").redirectErrorStream(true).start().waitFor() == 0;
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
        try (Running script = Running.start(python, Programs.source("python.py"))) {
            script.awaitLine("ready");
            Recorder recorder = Recorder.recordTo(file, "-p", Long.toString(script.pid()))
                    .with("--probe", "py_call:Work.*", "--probe", "py_call:<not*>")
                    .with("--probe", "py_call:PyObject_CallFunction");
            try (Running recording = recorder.startRecording()) {
                script.say("go");
                Running.Outcome ended = script.await();
                assertThat(ended.status()).as(ended.toString()).isZero();
                counted = Truth.of(ended.out()).only().path("counts");
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
    void everyCallFromCIsARowWithTheFunctionsName() {
        assertThat(recording.rows("""
                SELECT name, count(*), count(dur_ns) FROM events WHERE kind = 'py_call' GROUP BY name ORDER BY name
                """)).as(python).containsExactly(
                "<not ASCII> 7 7",
                "PyObject_CallFunction 25 25",
                "Work.double 400 400",
                "Work.fails 3 3",
                "Work.key 200 200",
                "Work.matched 50 50",
                "Work.nested 27 27",
                "Work.nested.<locals>.deeper 1350 1350",
                "Work.thread 4 4");
        for (String name : List.of("Work.double", "Work.fails", "Work.key", "Work.matched", "Work.nested", "Work.thread")) {
            assertThat(counted.path(name).asLong())
                    .as(name)
                    .isEqualTo(recording.number("SELECT count(*) FROM events WHERE name = '" + name + "'"));
        }
    }

    @Test
    void callsAreSeenInTheThreadThatMakesThem() {
        assertThat(recording.rows("""
                SELECT name, count(DISTINCT tid), bool_or(tid = pid) FROM events
                WHERE name IN ('Work.double', 'Work.key') GROUP BY name ORDER BY name
                """)).containsExactly("Work.double 4 false", "Work.key 1 true");
    }

    @Test
    void aCallEnclosesTheCallsItMakes() {
        assertThat(recording.number("""
                SELECT count(*) FROM events inner_call JOIN events outer_call
                    ON outer_call.tid = inner_call.tid AND outer_call.name = 'Work.nested'
                    AND inner_call.ts_ns >= outer_call.ts_ns
                    AND inner_call.ts_ns + inner_call.dur_ns <= outer_call.ts_ns + outer_call.dur_ns
                WHERE inner_call.name = 'Work.nested.<locals>.deeper'
                """)).isEqualTo(1350);
    }

    @Test
    void callsOfOtherFunctionsAreCounted() {
        JsonNode evaluator = recording.footer("zernel.probes").valueStream()
                .filter(probe -> probe.path("symbol").asString().equals("_PyEval_EvalFrameDefault"))
                .findFirst()
                .orElseThrow();
        long events = evaluator.path("events").asLong();
        long filtered = evaluator.path("filtered").asLong();
        assertThat(events).isEqualTo(2041);
        assertThat(filtered).isGreaterThanOrEqualTo(counted.path("unwanted").asLong());
        assertThat(evaluator.path("entries").asLong()).isEqualTo(events + filtered);
        assertThat(recording.footer("zernel.recording").path("complete").asBoolean()).isTrue();
    }
}
