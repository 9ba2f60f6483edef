package io.dyber.zernel.analyze.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dyber.zernel.analyze.Damage;
import io.dyber.zernel.format.RecordingException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// `-Dzernel.fuzz=N` tries N damaged traces, `-Dzernel.fuzz.seed=N` from that one on.
class KinetoTraceTest {
    private static final long COUNT = Long.getLong("zernel.fuzz", 300);
    private static final long SEED = Long.getLong("zernel.fuzz.seed", 0);

    @TempDir
    Path folder;

    private final List<TracedEvent> events = new ArrayList<>();

    /// A trace as PyTorch writes it, shortened by hand.
    static Path training() {
        try {
            return Path.of(Objects.requireNonNull(KinetoTraceTest.class.getResource("/traces/training.json")).toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void whatRanOnTheGpuIsReadWithTheCallsThatLaunchedIt() {
        TraceHeader header = KinetoTrace.read(training(), events::add);
        assertThat(header).isEqualTo(new TraceHeader(1_799_999_999_000_000_000L, 3L, 8L, 14, Map.of(), null));
        assertThat(events.stream().map(event -> event.category() + " " + event.name().split("\\(", 2)[0] + " at " + event.start()
                        + " for " + event.duration() + " on " + event.owner() + "/" + event.lane() + " by " + event.correlation()))
                .containsExactly(
                        "OPERATOR aten::mm at 1000900001 for 60000 on 100/100 by null",
                        "CALL cudaLaunchKernel at 1000910250 for 9750 on 100/100 by 27",
                        "KERNEL ampere_sgemm_128x64_nn at 1001000125 for 123456 on 0/7 by 27",
                        "CALL cuLaunchKernelEx at 1001100000 for 5000 on 100/101 by 30",
                        "KERNEL ncclDevKernel_AllReduce_Sum_f32_RING_LL at 1001200001 for 50000 on 0/20 by 30",
                        "COPY Memcpy HtoD  at 1001300000 for 12000 on 0/7 by 41",
                        "FILL Memset  at 1001320500 for 500 on 0/7 by 42");
        assertThat(events.get(2).size()).containsExactly(8L, 16L, 5L, 128L, 1L, 1L);
        assertThat(events.get(5).bytes()).isEqualTo(92928);
    }

    @ParameterizedTest
    @CsvSource({
        "4425452751342.078, 4425452751342078", "1712195495520883, 1712195495520883000", "0.0005, 0", "1.5e3, 1500000",
        "1e-999999999, 0", "1e999999999, ", "1e17, ", "-1.0, ", "NaN, ", "\"12.5\", 12500", "\"soon\", ", "null, ", "[1], ", "4000000000000001, "
    })
    void timesAreExactOrTheEventIsSkipped(String micros, String nanos) {
        read("{\"traceEvents\": [{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"dur\": 1, \"ts\": "
                + micros.replace('\'', '"') + "}]}");
        assertThat(events.stream().map(event -> Long.toString(event.start())).toList())
                .isEqualTo(nanos == null ? List.of() : List.of(nanos));
    }

    @Test
    void theBaseOfTimesMayFollowTheEvents() {
        assertThat(read("{\"traceEvents\": [], \"baseTimeNanoseconds\": 17}").base()).isEqualTo(17);
        assertThat(read("{\"traceEvents\": []}").base()).isNull();
        assertThat(read("{\"traceEvents\": [], \"baseTimeNanoseconds\": \"17\"}").base()).isEqualTo(17);
        assertThat(read("{\"traceEvents\": [], \"baseTimeNanoseconds\": 1.7e18}").base())
                .isEqualTo(1_700_000_000_000_000_000L);
        assertThat(read("{\"traceEvents\": [], \"baseTimeNanoseconds\": 1e-999999999}").base()).isEqualTo(0);
        assertThat(read("{\"traceEvents\": [], \"baseTimeNanoseconds\": 1e999999999}").base()).isNull();
    }

    @Test
    void whatCannotBeUsedIsCountedByReason() {
        TraceHeader header = read(
                """
                {"traceEvents": [
                {"ph": "X", "cat": "kernel", "name": "whole", "pid": 0, "tid": 7, "ts": 1, "dur": 2},
                {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1},
                {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1e15},
                {"ph": "X", "cat": "kernel", "pid": 0, "tid": 7, "ts": 1, "dur": 2},
                {"ph": "X", "cat": "gpu_memcpy", "name": {"a": []}, "pid": 0, "tid": 7, "ts": 1, "dur": 2},
                {"ph": "X", "cat": "gpu_memcpy", "name": "c", "pid": "GPU", "tid": 7, "ts": 1, "dur": 2},
                {"ph": "X", "cat": "gpu_memset", "name": "s", "pid": 99999999999999999999, "ts": 1, "dur": 2},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaFree", "pid": 1, "tid": 1, "dur": 2},
                7, "text", [{"ph": "X"}], null
                ], "odd": {"traceEvents": 1}}
                """);
        assertThat(events).extracting(TracedEvent::name).containsExactly("whole");
        assertThat(header.events()).isEqualTo(12);
        assertThat(header.skipped()).isEqualTo(Map.of(
                "kernel without a duration", 2L, "kernel without a name", 1L, "copy without a name", 1L,
                "copy without a device", 1L, "fill without a device", 1L, "call without a time", 1L, "not an object", 4L));
    }

    @Test
    void eventsOfOtherProfilersAreCountedAsWithoutACategory() {
        TraceHeader header = read("""
                {"traceEvents": [{"ph": "M", "name": "process_name"}, {"ph": "X", "name": "fusion.1", "ts": 1, "dur": 2}]}""");
        assertThat(header.skipped()).isEqualTo(Map.of("event without a category", 1L));
    }

    /// As PyTorch 2.0.1 writes them with `with_stack=True`.
    @Test
    void aNameWithQuotesCostsItsEventOnly() {
        TraceHeader header = read(
                """
                {"baseTimeNanoseconds": 17, "traceEvents": [
                  {
                    "ph": "X", "cat": "kernel", "name": "first", "pid": 0, "tid": 7,
                    "ts": 1, "dur": 2
                  },
                  {
                    "ph": "X", "cat": "python_function", "name": "_lib = torch.library.Library("_inductor_test", "DEF")",
                    "pid": 1, "tid": 1, "ts": 1, "dur": 2,
                    "args": {
                      "Python id": 1
                    }
                  },
                  {
                    "ph": "X", "cat": "python_function", "name": "a("")", "pid": 1, "tid": 1,
                    "ts": 1, "dur": 2
                  },
                  {
                    "ph": "X", "cat": "kernel", "name": "last", "pid": 0, "tid": 7,
                    "ts": 3, "dur": 2
                  }
                ], "distributedInfo": {"rank": 3}}
                """);
        assertThat(events).extracting(TracedEvent::name).containsExactly("first", "last");
        assertThat(header).isEqualTo(new TraceHeader(17L, 3L, null, 4, Map.of("damaged", 2L), null));
    }

    @Test
    void anArrayOfEventsIsReadOnBehindADamagedOne() {
        TraceHeader header = read("[\n{\"name\": \"a\"b\"},\n  {\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", "
                + "\"pid\": 0, \"ts\": 1, \"dur\": 2}\n]");
        assertThat(events).extracting(TracedEvent::name).containsExactly("k");
        assertThat(header).isEqualTo(new TraceHeader(null, null, null, 2, Map.of("damaged", 1L), null));
    }

    /// As `json.dumps` writes what was read from them.
    @Test
    void aDamagedEventCostsItselfOnlyWhereAllAreOnOneLine() {
        String event = "{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"%s\", \"pid\": 0, \"ts\": 1, \"dur\": 2, \"args\": {\"a\": [{\"b\": 1}, {\"b\": 2}]}}";
        for (String between : List.of(", ", ",")) {
            events.clear();
            TraceHeader header = read("{\"traceEvents\": [" + event.formatted("first") + between + event.formatted("a(\"b\", {})")
                    + between + event.formatted("last") + "], \"distributedInfo\": {\"rank\": 3}}");
            assertThat(events).extracting(TracedEvent::name).containsExactly("first", "last");
            assertThat(header).isEqualTo(new TraceHeader(null, 3L, null, 3, Map.of("damaged", 1L), null));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ",", ",\n", "\n", ",]"})
    void anArrayOfEventsNeedsNoClosingBracket(String end) {
        TraceHeader header = read("[{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"ts\": 1, \"dur\": 2}" + end);
        assertThat(events).extracting(TracedEvent::name).containsExactly("k");
        assertThat(header).isEqualTo(new TraceHeader(null, null, null, 1, Map.of(), null));
    }

    @Test
    void anArrayThatEndsInsideAnEventIsDamaged() {
        assertThat(read("[{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"ts\": 1, \"dur\": 2}, {\"ph\": \"X\"").damage())
                .isEqualTo("damaged after 2 events: it ends early");
    }

    @Test
    void aCompressedTraceOfWhichOnlyTheBeginIsThereSaysSo() throws IOException {
        Path file = Files.write(folder.resolve("begin.json.gz"), Arrays.copyOf(compressed(Files.readAllBytes(training())), 10));
        assertThatThrownBy(() -> KinetoTrace.read(file, events::add))
                .isInstanceOf(RecordingException.class)
                .hasMessage("opening '" + file + "': damaged: it ends early");
    }

    @Test
    void aMarkOfUtf8MayStandBeforeATrace() throws IOException {
        Path file = Files.writeString(folder.resolve("marked.json"), "\ufeff" + Files.readString(training()));
        assertThat(KinetoTrace.isOne(file)).isTrue();
        assertThat(KinetoTrace.read(file, events::add).events()).isEqualTo(14);
    }

    @Test
    void manyDamagedEventsOfALargeTraceAreEachSkipped() throws IOException {
        String one = "{\n\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"ts\": 1, \"dur\": 2,\n"
                + "\"args\": {\n\"a\": \"" + "x".repeat(300) + "\"\n}\n},\n{\n\"name\": \"a\"b\"\n},\n";
        Path file = folder.resolve("many.json.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            out.write(("{\"traceEvents\": [\n" + one.repeat(5000) + "{\n}]}").getBytes(StandardCharsets.UTF_8));
        }
        TraceHeader header = KinetoTrace.read(file, events::add);
        assertThat(events).hasSize(5000);
        assertThat(header).isEqualTo(new TraceHeader(null, null, null, 10_001, Map.of("damaged", 5000L), null));
    }

    @Test
    void compressedTracesAreRead() throws IOException {
        Path file = folder.resolve("trace.json.gz");
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
            Files.copy(training(), out);
        }
        assertThat(KinetoTrace.isOne(file)).isTrue();
        assertThat(KinetoTrace.read(file, events::add).events()).isEqualTo(14);
    }

    @Test
    void aCompressedTraceInSeveralPartsIsReadAndWhatFollowsItIsNot() throws IOException {
        byte[] whole = Files.readAllBytes(training());
        ByteArrayOutputStream parts = new ByteArrayOutputStream();
        parts.write(compressed(Arrays.copyOf(whole, 700)));
        parts.write(compressed(Arrays.copyOfRange(whole, 700, whole.length)));
        parts.write("not compressed".getBytes(StandardCharsets.UTF_8));
        Path file = Files.write(folder.resolve("parts.json.gz"), parts.toByteArray());
        TraceHeader header = KinetoTrace.read(file, events::add);
        assertThat(header.events()).isEqualTo(14);
        assertThat(header.damage()).isNull();
    }

    @Test
    void aCompressedTraceWithAnotherChecksumIsDamaged() throws IOException {
        byte[] bytes = compressed(Files.readAllBytes(training()));
        bytes[bytes.length - 6] ^= 1;
        Path file = Files.write(folder.resolve("changed.json.gz"), bytes);
        assertThat(KinetoTrace.read(file, events::add).damage()).isEqualTo("damaged after 14 events or before: Corrupt GZIP trailer");
    }

    @Test
    void damagedCompressedTracesAreReadOrGiveOneLine() throws IOException {
        byte[] whole = compressed(Files.readAllBytes(training()));
        int told = 0;
        for (long seed = SEED; seed < SEED + COUNT; seed++) {
            Path file = Files.write(folder.resolve("damaged.json.gz"), Damage.of(whole, new SplittableRandom(seed)));
            try {
                told += KinetoTrace.read(file, _ -> {}).damage() == null ? 0 : 1;
            } catch (RecordingException e) {
                assertThat(e).as("seed " + seed).hasMessageStartingWith("opening '").hasMessageNotContaining("\n");
                told++;
            }
        }
        assertThat(told).isGreaterThan((int) (COUNT / 2));
    }

    private static byte[] compressed(byte[] bytes) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (OutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(bytes);
        }
        return out.toByteArray();
    }

    @Test
    void aTraceThatEndsEarlyGivesWhatItHasAndSaysAfterHowManyEvents() throws IOException {
        String text = Files.readString(training());
        TraceHeader header = read(text.substring(0, text.indexOf("ampere")));
        assertThat(header.events()).isEqualTo(5);
        assertThat(header.damage()).startsWith("damaged after 5 events: ").doesNotContain("\n");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"{}", "{\"traceEvents\": 3}", "{\"a\": 1"})
    void otherJsonIsNoTrace(String json) {
        assertThatThrownBy(() -> read(json))
                .isInstanceOf(RecordingException.class)
                .hasMessageStartingWith("opening '" + folder.resolve("trace.json") + "': not a profiler's trace: ");
    }

    @Test
    void damagedTracesAreReadOrGiveOneLine() throws IOException {
        byte[] whole = Files.readAllBytes(training());
        int read = 0;
        for (long seed = SEED; seed < SEED + COUNT; seed++) {
            Path file = folder.resolve("damaged.json");
            Files.write(file, Damage.of(whole, new SplittableRandom(seed)));
            List<TracedEvent> found = new ArrayList<>();
            try {
                TraceHeader header = KinetoTrace.read(file, found::add);
                long skipped = header.skipped().values().stream().mapToLong(Long::longValue).sum();
                assertThat(found.size() + skipped).as("seed " + seed).isLessThanOrEqualTo(header.events());
                read++;
            } catch (RecordingException e) {
                assertThat(e).as("seed " + seed).hasMessageStartingWith("opening '").hasMessageNotContaining("\n");
            }
        }
        assertThat(read).isBetween(1, (int) COUNT - 1);
    }

    private TraceHeader read(String json) {
        try {
            return KinetoTrace.read(Files.writeString(folder.resolve("trace.json"), json, StandardCharsets.UTF_8), events::add);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
