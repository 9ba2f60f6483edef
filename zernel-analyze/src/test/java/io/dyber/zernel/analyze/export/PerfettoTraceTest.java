package io.dyber.zernel.analyze.export;

import static io.dyber.zernel.analyze.RecordingFixture.START_NS;
import static io.dyber.zernel.analyze.RecordingFixture.recording;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.analyze.Database;
import io.dyber.zernel.analyze.RecordingFixture;
import io.dyber.zernel.analyze.Recordings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Reads the traces with a decoder of its own; numbers here are field numbers of Perfetto's messages.
class PerfettoTraceTest {
    @TempDir
    Path folder;

    @Test
    void slicesNestAndHaveNamesAndArguments() throws IOException {
        List<String> lines = lines(recording().region("outer", 0, 10).region("inner", 2, 3).io(2, 1, 70).region("next", 10, 1)
                .torchAlloc(11, 64));
        assertThat(lines).containsSubsequence(
                "thread 100/100 python3",
                "0 begin region outer {cpu=1}",
                "2000 begin region inner {cpu=1}",
                "2000 begin io read {cpu=1, bytes=70, status=0, fd=3}",
                "3000 end read",
                "5000 end inner",
                "10000 end outer",
                "10000 begin region next {cpu=1}",
                "11000 end next",
                "11000 instant torch_alloc pytorch:malloc {cpu=1, bytes=64, device=0}");
    }

    @Test
    void samplesAreInstantsAndStacksAreArguments() throws IOException {
        assertThat(lines(recording().blocked("wait", "futex", 1, 3, "f (/me/a.py:2)").sample(5, "f (/me/a.py:2)")))
                .containsSubsequence(
                        "thread 100/100 python3",
                        "1000 begin wait futex {cpu=1, stack=f (/me/a.py:2)}",
                        "4000 end futex",
                        "5000 instant sample on-cpu {cpu=1, stack=f (/me/a.py:2), period_ns=20000000}");
    }

    @Test
    void stepsPhasesAndCountersHaveTracks() throws IOException {
        assertThat(lines(recording().training(1, 15).gpuSample("power", 5, 37, "mW"))).contains(
                        "process 100 python3", "track steps", "track phases", "counter GPU 0 power", "5000 value 37")
                .containsSubsequence("0 begin phases DataLoading {}", "15000 end DataLoading", "15000 begin phases GpuCompute {}");
    }

    @Test
    void ranksAreConnected() throws IOException {
        assertThat(lines(recording().allReduce(0, 0, 10, 1, 8).on(101, 101, "python3").allReduce(1, 0, 12, 1, 8)))
                .filteredOn(line -> line.contains("flow"))
                .extracting(line -> line.replaceAll("\\{.*}", ""))
                .containsExactly("10000 begin nccl ncclAllReduce  flow 1", "12000 begin nccl ncclAllReduce  last flow 1");
    }

    @Test
    void anyCallsEndInTheOrderOfTheirTrack() throws IOException {
        SplittableRandom random = new SplittableRandom(5);
        RecordingFixture fixture = recording();
        for (int i = 0; i < 500; i++) {
            fixture.on(100, 100 + random.nextInt(3), "t").region("r" + i, random.nextInt(1000), random.nextInt(60));
        }
        // lines() fails where a slice ends that is not the innermost, or time runs backwards on a track.
        assertThat(lines(fixture)).filteredOn(line -> line.contains(" begin ")).hasSize(500);
    }

    @Test
    void namesAreForgottenBeforeTheyAreTooMany() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Selection selection = new Selection(List.of(), List.of(), 0, 1, 0, List.of());
        Track track = new Track(1, null, Track.Type.PROCESS, "p", 1, 1, 0, "");
        try (PerfettoTrace trace = new PerfettoTrace(out, selection)) {
            trace.track(track);
            for (int i = 0; i < 70_000; i++) {
                trace.begin(track, new Slice("k", "n" + i, i, Slice.INSTANT, Map.of(), null));
            }
        }
        List<String> lines = read(Decoded.of(out.toByteArray()), 0);
        assertThat(lines).filteredOn(line -> line.equals("names forgotten")).hasSize(2);
        assertThat(lines.getLast()).isEqualTo("69 instant k n69999 {}");
    }

    private List<String> lines(RecordingFixture fixture) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (Database database = Recordings.open(fixture.write(folder.resolve("run.parquet")).toString())) {
            Selection selection = Selection.of(database, List.of(), List.of(), null, null);
            try (PerfettoTrace trace = new PerfettoTrace(out, selection)) {
                Trace.write(database, selection, trace, _ -> {});
            }
        }
        return read(Decoded.of(out.toByteArray()), START_NS);
    }

    /// One line a packet, times in us since `zero`.
    private static List<String> read(Decoded trace, long zero) {
        List<String> lines = new ArrayList<>();
        Map<Integer, Map<Long, String>> interned = new HashMap<>();
        Map<Long, Deque<String>> open = new HashMap<>();
        Map<Long, Long> times = new HashMap<>();
        for (Decoded packet : trace.messages(1)) {
            if (packet.integer(13) == 1) {
                interned.clear();
                lines.add("names forgotten");
                assertThat(packet.messages(59).getFirst().integer(58)).isEqualTo(1); // REALTIME
            }
            for (Decoded names : packet.messages(12)) {
                for (Decoded.Field field : names.fields()) {
                    Decoded name = Decoded.of((byte[]) field.value());
                    interned.computeIfAbsent(field.number(), _ -> new HashMap<>()).put(name.integer(1), name.text(2));
                }
            }
            packet.messages(60).forEach(descriptor -> lines.add(described(descriptor)));
            for (Decoded event : packet.messages(11)) {
                long track = event.integer(11);
                long at = packet.integer(8);
                assertThat(at).isGreaterThanOrEqualTo(times.getOrDefault(track, Long.MIN_VALUE));
                times.put(track, at);
                lines.add((at - zero) / 1000 + " " + told(event, interned, open.computeIfAbsent(track, _ -> new ArrayDeque<>())));
            }
        }
        assertThat(open.values()).allSatisfy(stack -> assertThat(stack).isEmpty());
        return lines;
    }

    private static String described(Decoded descriptor) {
        if (descriptor.has(3)) {
            Decoded process = descriptor.messages(3).getFirst();
            return "process " + process.integer(1) + " " + process.text(6);
        }
        if (descriptor.has(4)) {
            Decoded thread = descriptor.messages(4).getFirst();
            return "thread " + thread.integer(1) + "/" + thread.integer(2) + " " + thread.text(5);
        }
        return (descriptor.has(8) ? "counter " : "track ") + descriptor.text(2);
    }

    private static String told(Decoded event, Map<Integer, Map<Long, String>> interned, Deque<String> open) {
        if (event.integer(9) == 2) {
            return "end " + open.pop();
        }
        if (event.integer(9) == 4) {
            return "value " + event.integer(30);
        }
        String name = name(interned, 2, event.integer(10));
        Map<String, Object> arguments = new java.util.LinkedHashMap<>();
        for (Decoded annotation : event.messages(4)) {
            arguments.put(
                    name(interned, 3, annotation.integer(1)),
                    annotation.has(6) ? annotation.text(6) : annotation.integer(4));
        }
        if (event.integer(9) == 1) {
            open.push(name);
        }
        return (event.integer(9) == 1 ? "begin " : "instant ") + name(interned, 1, event.integer(3)) + " " + name + " "
                + arguments + (event.has(47) ? " flow " + event.integer(47) : "")
                + (event.has(48) ? " last flow " + event.integer(48) : "");
    }

    private static String name(Map<Integer, Map<Long, String>> interned, int field, long number) {
        return String.valueOf(interned.getOrDefault(field, Map.of()).get(number));
    }
}
