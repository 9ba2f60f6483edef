package io.dyber.zernel.record.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/// A C program that calls probed functions in every way that can go wrong, once per way of probing: each call is one
/// event, with its arguments and its duration. Once as on a kernel whose probes of returns end processes in containers.
@ParameterizedClass
@CsvSource({"session, 250000, ''", "multi, 25000, ''", "perf, 25000, ''", "multi, 25000, 6.12.13"})
class CallsIT {
    /// Called with the path of the library before each.
    private static final List<String> PROBES = List.of(
            "calls_push(number=arg1, thread=arg2:u32, result=ret)",
            "calls_endbr(number=arg1, thread=arg2:u32, result=ret)",
            "calls_stub(number=arg1, thread=arg2:u32, result=ret)",
            "calls_lea(number=arg1, thread=arg2:u32, result=ret)",
            "calls_wide(a=arg1, b=arg2:s32, c=arg3:u16, d=arg4:s8, f=arg6, g=arg7, h=arg8:s32, i=arg9)",
            "calls_text(label=arg1:str, number=arg2, result=ret:s32)",
            "calls_named(label=arg1:stdstr, number=arg2, result=ret:s32)",
            "calls_request(number=arg1->0, flags=arg1->8:u16, dimensions=arg1->16->0:u32, unit_id=arg1->16->4:s32, "
                    + "bytes=arg1->16->8, label=arg1->24:str, handle=*arg2@ret:u64, result=ret:s32)",
            "calls_spin(number=arg1)",
            "calls_recurse(number=arg1:s32, leaf=arg2)",
            "calls_before(number=arg1)",
            "calls_behind(number=arg1, result=ret)",
            "calls_inside(number=arg2)",
            "calls_marker(number=arg1, result=ret)",
            "calls_last(number=arg1)");

    private static Truth truth = new Truth(List.of());
    private static Recording recording = Recording.none();

    private final String backend;
    private final long callsPerThread;
    private final String kernel;

    CallsIT(String backend, long callsPerThread, String kernel) {
        this.backend = backend;
        this.callsPerThread = callsPerThread;
        this.kernel = kernel;
    }

    @BeforeParameterizedClassInvocation
    static void record(String backend, long callsPerThread, String kernel, @TempDir Path directory) {
        Needs.bpf();
        Path file = directory.resolve("run.parquet");
        Recorder recorder = Recorder.recordTo(file, "--backend", backend, "--kinds", "call,process");
        if (!kernel.isEmpty()) {
            recorder = recorder.property("os.version", kernel);
        }
        for (String probe : PROBES) {
            recorder = recorder.with("--probe", Programs.built("libcalls.so") + ":" + probe);
        }
        Running.Outcome outcome = recorder.with(
                        "--", Programs.built("calls").toString(), Long.toString(callsPerThread))
                .run();
        assertThat(outcome.status()).as(outcome.toString()).isEqualTo(5);
        truth = Truth.of(outcome.out());
        recording = Recording.open(file);
    }

    @AfterParameterizedClassInvocation
    static void close() {
        recording.close();
    }

    @Test
    void noReturnIsProbedWhereThatCouldEndAProcess() {
        assertThat(probe("calls_push").path("end").asString()).isEqualTo(kernel.isEmpty() ? "return" : "exits");
        if (!kernel.isEmpty()) {
            assertThat(recording.footer("zernel.probes").valueStream().map(probe -> probe.path("end").asString()))
                    .isSubsetOf("exits", "early");
        }
    }

    /// Four threads call without a pause, on a machine that may have fewer processors than that: what the recorder
    /// could not take is counted, to the call.
    @Test
    void everyCallOfFourBusyThreadsIsAnEventOrACountedLoss() {
        JsonNode pushed = truth.of("push");
        JsonNode push = probe("calls_push");
        long lost = push.path("lost").asLong();
        assertThat(pushed.path("calls").asLong()).isEqualTo(4 * callsPerThread);
        assertThat(push.path("entries").asLong()).isEqualTo(4 * callsPerThread);
        assertThat(push.path("events").asLong()).isEqualTo(4 * callsPerThread - lost);
        assertThat(lost).isLessThan(callsPerThread);
        assertThat(recording.rows("""
                SELECT count(*), count(DISTINCT (tid, number)), bool_and(number BETWEEN 0 AND %d),
                    bool_and(dur_ns IS NULL OR result = 3 * number + thread), bool_and(dur_ns IS NULL OR dur_ns > 0)
                FROM events WHERE name = 'calls_push'
                """.formatted(callsPerThread - 1)))
                .containsExactly((4 * callsPerThread - lost) + " " + (4 * callsPerThread - lost) + " true true true");
        assertThat(recording.rows("""
                SELECT DISTINCT tid, thread FROM events WHERE name = 'calls_push' ORDER BY thread
                """)).containsExactly(
                pushed.path("threads").path(0).path("tid").asLong() + " 0",
                pushed.path("threads").path(1).path("tid").asLong() + " 1",
                pushed.path("threads").path(2).path("tid").asLong() + " 2",
                pushed.path("threads").path(3).path("tid").asLong() + " 3");
        if (lost == 0 && recording.footer("zernel.losses").path("ends").asLong() == 0) {
            long sum = 2 * callsPerThread * (callsPerThread - 1);
            assertThat(recording.rows("""
                    SELECT sum(number), sum(result), count(dur_ns) FROM events WHERE name = 'calls_push'
                    """)).containsExactly(
                    sum + " " + (3 * sum + 6 * callsPerThread) + " " + 4 * callsPerThread);
        }
    }

    @Test
    void lossesAreTheSameNumberEverywhere() {
        long total = recording.footer("zernel.losses").path("total").asLong();
        assertThat(recording.number("SELECT coalesce(sum(count), 0) FROM events WHERE kind = 'lost'"))
                .isEqualTo(total);
        assertThat(recording.footer("zernel.recording").path("complete").asBoolean())
                .isEqualTo(total == 0);
        assertThat(recording.footer("zernel.recording").path("events").asLong())
                .isEqualTo(recording.number("SELECT count(*) FROM events"));
    }

    @Test
    void theFooterAccountsForCallsThatReturnAndCallsThatDoNot() {
        JsonNode inside = probe("calls_inside");
        assertThat(inside.path("entries").asLong()).isEqualTo(1390);
        assertThat(inside.path("events").asLong()).isEqualTo(1390);
        assertThat(inside.path("lost").asLong()).isZero();
        assertThat(inside.path("no_return").asLong()).isEqualTo(870);
        assertThat(probe("calls_recurse").path("no_return").asLong()).isZero();
    }

    @Test
    void theFooterNamesTheBackend() {
        assertThat(recording.footer("zernel.recording").path("backend").asString()).isEqualTo(backend);
    }

    @Test
    void everyFirstInstructionCanBeProbedWithoutChangingWhatItDoes() {
        assertThat(recording.rows("""
                SELECT name, thread, count(*), sum(number), sum(result), count(dur_ns) FROM events
                WHERE name IN ('calls_endbr', 'calls_stub', 'calls_lea') GROUP BY name, thread ORDER BY name
                """)).containsExactly(
                "calls_endbr 1 1000 499500 1499500 1000",
                "calls_lea 3 1000 499500 1501500 1000",
                "calls_stub 2 1000 499500 null 1000");
        assertThat(truth.of("first-instructions").path("returned").asLong()).isEqualTo(4_501_500);
        assertThat(probe("calls_push").path("cost").asString()).isEqualTo("emulated");
        assertThat(probe("calls_endbr").path("cost").asString()).isEqualTo("emulated");
        assertThat(probe("calls_stub").path("cost").asString()).isEqualTo("emulated");
        assertThat(probe("calls_lea").path("cost").asString()).isEqualTo("single-stepped");
    }

    @Test
    void argumentsOnTheStackAndNarrowArgumentsAreRead() {
        assertThat(recording.rows("""
                SELECT count(*), count(DISTINCT g), min(g), max(g), sum(a), sum(c), sum(d) FROM events
                WHERE name = 'calls_wide' AND a = (-g << 33) - g AND b = g AND c = 65535 + g AND d = -((-g) % 100)
                    AND f = -g * 1000003 AND h = 2 * g AND i = (1::BIGINT << 40) - g
                """)).containsExactly("1000 1000 -999 0 4290672329203500 65035500 -49500");
    }

    @Test
    void textsStructuresAndOutPointersAreRead() {
        assertThat(recording.number("""
                SELECT count(*) FROM events WHERE name = 'calls_text'
                    AND label = 'text ' || number AND result = 116 - number
                """)).isEqualTo(100);
        assertThat(recording.rows("""
                SELECT number, label, result FROM events WHERE name = 'calls_named' AND number IN (8, 99) ORDER BY 1
                """)).containsExactly("8 name 8 102", "99 a longer name for call 99 -2");
        assertThat(recording.number("SELECT count(DISTINCT label) FROM events WHERE name = 'calls_named'"))
                .isEqualTo(100);
        assertThat(recording.number("""
                SELECT count(*) FROM events WHERE name = 'calls_request'
                    AND label = 'a longer name for call ' || number AND flags = 65520 AND dimensions = 4
                    AND unit_id = -1 AND bytes = number << 32 AND handle = number * 7 AND result = -number
                """)).isEqualTo(100);
    }

    @Test
    void aDurationIsLongerThanTheBodyAndShorterThanTheCallAsTheCallerSeesIt() {
        List<Long> inner = Truth.longs(truth.of("spin").path("inner_ns"));
        List<Long> outer = Truth.longs(truth.of("spin").path("outer_ns"));
        List<Long> recorded =
                recording.numbers("SELECT dur_ns FROM events WHERE name = 'calls_spin' ORDER BY number");
        assertThat(recorded).hasSize(200);
        for (int i = 0; i < 200; i++) {
            assertThat(recorded.get(i)).as("spin %d", i).isBetween(inner.get(i), outer.get(i));
        }
    }

    @Test
    void recursionToDepthFiftyIsNested() {
        assertThat(recording.rows("""
                SELECT count(*), sum(number), count(*) FILTER (dur_ns >= 50000) FROM events
                WHERE name = 'calls_recurse' AND leaf = 50000
                """)).containsExactly("1020 25500 1020");
        assertThat(recording.number("""
                SELECT count(*) FROM (
                    SELECT number, dur_ns, lag(number) OVER w AS outer_number, lag(dur_ns) OVER w AS outer_ns
                    FROM events WHERE name = 'calls_recurse' AND leaf = 50000 WINDOW w AS (ORDER BY ts_ns))
                WHERE number = outer_number - 1 AND dur_ns < outer_ns
                """)).isEqualTo(1000);
    }

    @Test
    void recursionDeeperThanTheKernelKeepsReturnsForHasItsDurationsToo() {
        assertThat(recording.rows("""
                SELECT dur_ns IS NULL, count(*), min(number), max(number) FROM events
                WHERE name = 'calls_recurse' AND leaf = 1 GROUP BY 1 ORDER BY 1
                """)).containsExactly("false 100 0 99");
    }

    @Test
    void aTailJumpIsTwoCalls() {
        assertThat(recording.rows("""
                SELECT name, count(*), count(dur_ns), sum(number), sum(result) FROM events
                WHERE name IN ('calls_before', 'calls_behind') GROUP BY name ORDER BY name
                """)).containsExactly("calls_before 100 100 4950 null", "calls_behind 100 100 4950 5050");
    }

    @Test
    void aCallLeftByLongjmpHasNoDurationAndSpoilsNoOther() {
        assertThat(truth.of("longjmp").path("jumps").asLong()).isEqualTo(500);
        assertThat(recording.rows("""
                SELECT number // 1000, number % 2, count(*), count(dur_ns), count(DISTINCT number) FROM events
                WHERE name = 'calls_inside' AND number // 1000 IN (1, 6) GROUP BY ALL ORDER BY ALL
                """)).containsExactly("1 0 500 0 500", "1 1 500 500 500", "6 0 250 0 250");
    }

    @Test
    void aForkInsideACallIsOneCallOfTheParent() {
        assertThat(recording.rows("""
                SELECT name, count(*), count(dur_ns), count(DISTINCT pid), count(DISTINCT number) FROM events
                WHERE name IN ('calls_inside', 'calls_marker') AND number // 1000 = 2 GROUP BY name ORDER BY name
                """)).containsExactly("calls_inside 20 20 1 20", "calls_marker 20 20 20 20");
    }

    @Test
    void execAndExitInsideACallLeaveItWithoutDuration() {
        assertThat(truth.of("exec").path("right").asLong()).isEqualTo(10);
        assertThat(truth.of("exit").path("right").asLong()).isEqualTo(10);
        assertThat(recording.rows("""
                SELECT name, number // 1000, count(*), count(dur_ns), count(DISTINCT pid), sum(result) FROM events
                WHERE number // 1000 IN (3, 4) AND name IN ('calls_inside', 'calls_marker')
                GROUP BY ALL ORDER BY ALL
                """)).containsExactly(
                "calls_inside 3 10 0 10 null",
                "calls_inside 4 10 0 10 null",
                "calls_marker 3 10 10 10 -30045");
    }

    @Test
    void aThreadThatExitsInsideACallLeavesItWithoutDuration() {
        assertThat(truth.of("pthread-exit").path("right").asLong()).isEqualTo(100);
        assertThat(recording.rows("""
                SELECT count(*), count(dur_ns), count(DISTINCT tid) FROM events
                WHERE name = 'calls_inside' AND number // 1000 = 5
                """)).containsExactly("100 0 100");
    }

    @Test
    void theLastCallsBeforeTheEndAreRecorded() {
        assertThat(recording.rows("""
                SELECT count(*), sum(number), count(dur_ns) FROM events WHERE name = 'calls_last'
                """)).containsExactly("7 21 7");
    }

    private static JsonNode probe(String symbol) {
        return recording.footer("zernel.probes").valueStream()
                .filter(probe -> probe.path("symbol").asString("").equals(symbol))
                .findFirst()
                .orElseThrow();
    }
}
