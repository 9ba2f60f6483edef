package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dyber.zernel.record.process.Machine;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/// The cost of recording as the recorder measures, says and stores it.
class OverheadIT {
    @TempDir
    private Path directory = Path.of("");

    @BeforeAll
    static void needs() {
        Needs.bpf();
    }

    private Path file() {
        return directory.resolve("run.parquet");
    }

    @ParameterizedTest
    @ValueSource(strings = {"session", "multi", "perf"})
    void aCallHasItsPriceAndEveryProcessItsShare(String backend) {
        Running.Outcome outcome = Recorder.recordTo(file(), "--backend", backend, "--kinds", "call,process")
                .with("--probe", Programs.built("libcalls.so") + ":calls_push(number=arg1, result=ret)")
                .with("--", Programs.built("calls").toString(), "5000")
                .run();
        assertThat(outcome.status()).as(outcome.toString()).isEqualTo(5);
        assertThat(outcome.err()).anyMatch(
                line -> line.matches(".*\\((functions will be probed as libraries are loaded|1 function probed), " + backend
                        + " backend, ~\\d+\\.\\d us per recorded call here.*"));
        try (Recording recording = Recording.open(file())) {
            JsonNode overhead = recording.footer("zernel.overhead");
            JsonNode probe = recording.footer("zernel.probes").path(0);
            double cost = overhead.path("cost_ns_per_hit").asDouble();
            double counted = overhead.path("cost_ns_per_counted_hit").asDouble();
            assertThat(counted).isPositive();
            assertThat(cost).isGreaterThan(counted).isLessThan(1e6);
            assertThat(overhead.path("method").asString()).contains(backend + " backend");
            assertThat(overhead.path("hits").asLong()).isEqualTo(20_000).isEqualTo(probe.path("entries").asLong());
            assertThat(overhead.path("cpu_ns_total").asDouble()).isCloseTo(20_000 * cost, within(0.001 * 20_000 * cost));
            assertThat(overhead.path("recorder_cpu_ns").asLong()).isPositive();
            assertThat(overhead.path("processes").valueStream()
                            .map(process -> process.path("pid").asLong() + " " + process.path("events").asLong()))
                    .containsExactlyElementsOf(
                            recording.rows("SELECT pid, count(*) FROM events WHERE kind = 'call' GROUP BY pid"));
            assertThat(overhead.path("processes").path(0).path("share").asDouble()).isPositive();
        }
    }

    /// `calls_recurse` calls itself, so it is probed where it is left. Which of the prices is the higher one is the machine's:
    /// they are measured one after the other, and whatever else runs meets one of them.
    @ParameterizedTest
    @ValueSource(strings = {"session", "multi"})
    void aCallThatEndsInADebugTrapHasItsOwnPrice(String backend) {
        Running.Outcome outcome = Recorder.recordTo(file(), "--backend", backend, "--kinds", "call,process")
                .with("--probe", Programs.built("libcalls.so") + ":calls_recurse")
                .with("--", Programs.built("calls").toString(), "10")
                .run();
        assertThat(outcome.status()).as(outcome.toString()).isEqualTo(5);
        assertThat(outcome.err()).anyMatch(line -> line.matches(
                ".*, ~\\d+\\.\\d us per recorded call here, ~\\d+\\.\\d us of functions that take a debug trap.*"));
        try (Recording recording = Recording.open(file())) {
            JsonNode overhead = recording.footer("zernel.overhead");
            double cost = overhead.path("cost_ns_per_left_hit").asDouble();
            double counted = overhead.path("cost_ns_per_counted_left_hit").asDouble();
            assertThat(counted).isPositive().isLessThan(cost);
            if (!Machine.endsFilteredAtReturns()) { // there all calls are probed where they are left
                assertThat(List.of(cost, counted))
                        .isNotEqualTo(List.of(
                                overhead.path("cost_ns_per_hit").asDouble(), overhead.path("cost_ns_per_counted_hit").asDouble()));
            }
            assertThat(overhead.path("hits").asLong()).isPositive().isEqualTo(overhead.path("left_hits").asLong());
            double trap = overhead.path("debug_trap_ns").asDouble();
            assertThat(trap).isPositive();
            double all = overhead.path("hits").asLong() * (cost + trap);
            assertThat(overhead.path("cpu_ns_total").asDouble()).isCloseTo(all, within(0.001 * all));
        }
    }

    /// The calls that were made for the measurement are in no row, no count and no ring.
    @Test
    void measuringLeavesNoTrace() {
        Recorder.recordTo(file(), "--kinds", "region,call")
                .with("--probe", Programs.built("libcalls.so") + ":calls_push(number=arg1)")
                .with("--", "sleep", "0.3")
                .runWell();
        try (Recording recording = Recording.open(file())) {
            assertThat(recording.number("SELECT count(*) FROM events WHERE kind IN ('call', 'region', 'lost')")).isZero();
            assertThat(recording.footer("zernel.losses").path("total").asLong()).isZero();
            assertThat(recording.footer("zernel.losses").path("rings").valueStream()
                            .map(ring -> ring.path("high_water_bytes").asLong()))
                    .allMatch(bytes -> bytes < 100_000);
            JsonNode overhead = recording.footer("zernel.overhead");
            assertThat(overhead.path("cost_ns_per_hit").asDouble()).isPositive();
            assertThat(overhead.path("hits").asLong()).isZero();
            assertThat(overhead.path("processes").isEmpty()).isTrue();
        }
    }

    @Test
    void withoutProbedFunctionsNothingIsMeasured() {
        Running.Outcome outcome = Recorder.recordTo(file(), "-p", "1", "--kinds", "process", "-d", "100ms").runWell();
        assertThat(outcome.err()).noneMatch(line -> line.contains("per recorded call"));
        try (Recording recording = Recording.open(file())) {
            JsonNode overhead = recording.footer("zernel.overhead");
            assertThat(overhead.path("cost_ns_per_hit").isNull()).isTrue();
            assertThat(overhead.path("method").asString()).isEqualTo("no kind of probed functions was asked for");
            assertThat(List.of(overhead.path("hits").asLong(), overhead.path("counted_hits").asLong()))
                    .containsOnly(0L);
        }
    }

    /// A read that is an event costs more than a call that is only seen, and the recorder's own are in no count.
    @Test
    void aSystemCallHasItsPrice() {
        Recorder.recordTo(file(), "--kinds", "io,io_open,wait,process")
                .with("--", "dd", "if=/dev/zero", "of=/dev/null", "bs=100", "count=5000", "status=none")
                .runWell();
        try (Recording recording = Recording.open(file())) {
            JsonNode calls = recording.footer("zernel.overhead").path("system_calls");
            double cost = calls.path("cost_ns").asDouble();
            double skipped = calls.path("skipped_cost_ns").asDouble();
            assertThat(calls.path("other_cost_ns").asDouble()).isPositive().isLessThan(cost);
            assertThat(skipped).isPositive().isLessThan(cost);
            assertThat(cost).isLessThan(1e5);
            assertThat(calls.path("method").asString()).contains("reads of 100 bytes");
            assertThat(calls.path("hits").asLong() - calls.path("skipped").asLong())
                    .isEqualTo(recording.number("SELECT count(*) FROM events WHERE kind IN ('io', 'io_open', 'wait')"))
                    .isGreaterThanOrEqualTo(5_000);
            // The writes are small: events are those that took long, as one that lost its CPU.
            long slow = recording.number("SELECT count(*) FROM events WHERE kind = 'io' AND name = 'write'");
            assertThat(slow).isLessThan(2_500);
            assertThat(calls.path("skipped").asLong() + slow).isGreaterThanOrEqualTo(5_000);
            assertThat(recording.number("SELECT count(*) FROM events WHERE kind = 'lost'")).isZero();
        }
    }

    @Test
    void withoutWatchedSystemCallsNothingIsMeasuredOfThem() {
        Recorder.recordTo(file(), "-p", "1", "--kinds", "process", "-d", "100ms").runWell();
        try (Recording recording = Recording.open(file())) {
            JsonNode calls = recording.footer("zernel.overhead").path("system_calls");
            assertThat(calls.path("cost_ns").isNull()).isTrue();
            assertThat(calls.path("method").asString()).isEqualTo("no system calls are watched");
            assertThat(calls.path("hits").asLong()).isZero();
        }
    }
}
