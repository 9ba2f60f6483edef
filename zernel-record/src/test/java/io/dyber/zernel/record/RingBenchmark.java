package io.dyber.zernel.record;

import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.attach.FunctionTable;
import io.dyber.zernel.record.bpf.Backend;
import io.dyber.zernel.record.bpf.PrivateFunction;
import io.dyber.zernel.record.bpf.ProbeLinks;
import io.dyber.zernel.record.bpf.RingBuffer;
import io.dyber.zernel.record.bpf.RingInC;
import io.dyber.zernel.record.bpf.Site;
import io.dyber.zernel.record.bpf.UprobeProbes;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.RowEnricher;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.probe.Capture;
import io.dyber.zernel.record.probe.Function;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.probe.ProbeSpec;
import io.dyber.zernel.record.probe.Width;
import io.dyber.zernel.record.schema.Schema;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;

/// From the ring to columns: the recorder's reader and decoder against C over the same ring, with the JIT compiler of
/// the recorder and in another JVM with both. Needs root and gcc.
///
/// A probed function is called while nobody reads, then what its calls sent is read in one go. All ways in turn in every
/// round, each after calls of its own. CPU time of the reading thread.
final class RingBenchmark {
    private static final int RING_SIZE = 64 << 20;
    private static final int CALLS = 200_000;
    private static final int ROUNDS = 11;
    private static final int WARM_ROUNDS = 4;
    private static final int BATCH_ROWS = 32_768;
    private static final String ONE_JVM = "here";

    private final UprobeProbes probes;
    private final PrivateFunction function;
    private final RingBuffer ring;
    private final RingInC c;
    private long rows;

    private RingBenchmark(UprobeProbes probes, PrivateFunction function, RingBuffer ring, RingInC c) {
        this.probes = probes;
        this.function = function;
        this.ring = ring;
        this.c = c;
    }

    public static void main(String[] args) throws IOException, InterruptedException {
        List<String> flags = ManagementFactory.getRuntimeMXBean().getInputArguments();
        measure(flags.contains("-XX:TieredStopAtLevel=1") ? "C1, as in the recorder" : "C1 and C2");
        if (args.length == 0) {
            List<String> command = new ArrayList<>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            flags.stream().filter(flag -> flag.startsWith("--")).forEach(command::add);
            command.addAll(List.of("-cp", System.getProperty("java.class.path"), RingBenchmark.class.getName(), ONE_JVM));
            System.exit(new ProcessBuilder(command).inheritIO().start().waitFor());
        }
    }

    private static void measure(String compilers) throws IOException, InterruptedException {
        try (UprobeProbes probes = Backend.choose(
                        List.of(Backend.SESSION, Backend.SESSION_CTX),
                        name -> CompiledPrograms.open(name)
                                .entries("functions", 4)
                                .entries("counters", 4)
                                .entries("bulk", RING_SIZE)
                                .constant("everyone", 1));
                PrivateFunction function = PrivateFunction.create();
                RingBuffer ring = RingBuffer.map(probes.object().map("bulk"), RING_SIZE)) {
            RingInC c = new RingInC(
                    Path.of("src/test/workloads/ring.c"),
                    Files.createTempDirectory("zernel-ring"),
                    probes.object().map("bulk"),
                    RING_SIZE);
            RingBenchmark benchmark = new RingBenchmark(probes, function, ring, c);
            Capture result = Capture.returned("count", Width.U64);
            benchmark.run(compilers + ", 2 records a call", 1, List.of(Capture.argument("bytes", 1, Width.U64), result));
            benchmark.run(compilers + ", 1 record a call", 2, List.of(result));
        }
    }

    private void run(String title, int id, List<Capture> captures) {
        FunctionProbe hook = FunctionProbe.named(new Function(ProbeSpec.CALL, "", function.path().toString(), "function", captures));
        FunctionTable table = new FunctionTable(probes.object().btf(), Set.of());
        boolean sendsEntry = FunctionTable.sendsEnter(hook, false);
        int records = sendsEntry ? 2 : 1;
        probes.object().map("functions").put(id, table.encode(hook, 1, false).bytes());
        Schema schema = CompiledPrograms.schema(List.of());
        Decoder decoder = new Decoder(schema, CompiledPrograms.wire(), new StringDictionary(), 0, BATCH_ROWS, batch -> rows += batch.rows());
        decoder.define(id, table.shape(hook, "function", false, RowEnricher.NONE));
        Comparison reading = new Comparison("Reading the ring, " + title, "ns CPU/record");
        Comparison columns = new Comparison("From the ring to columns, " + title, "ns CPU/call");
        ProbeLinks links = probes.attach(function.path().toString(), List.of(new Site(0, id, Site.End.RETURN, 0)));
        for (int round = -WARM_ROUNDS; round < ROUNDS; round++) {
            boolean counts = round >= 0;
            int sent = CALLS * records;
            take(reading, counts, "libbpf, empty callback", sent, c::readByCallback);
            take(reading, counts, "ours, empty consumer", sent, this::drainOnly);
            take(columns, counts, "C, joins as the recorder does", CALLS, () -> c.join(sendsEntry));
            take(columns, counts, "C, copies only", CALLS, () -> c.copy(sendsEntry));
            take(columns, counts, "ours", CALLS, () -> decode(decoder));
        }
        links.detach();
        reading.print();
        columns.print();
    }

    private long drainOnly() {
        return ring.drain(ring.producerPosition(), (_, _, _) -> {});
    }

    private long decode(Decoder decoder) {
        rows = 0;
        int _ = ring.drain(ring.producerPosition(), (data, at, _) -> decoder.read(data, at));
        decoder.flush();
        return rows;
    }

    private void take(Comparison comparison, boolean counts, String way, int expected, LongSupplier read) {
        long _ = function.call(CALLS);
        long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        long found = read.getAsLong();
        long took = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start;
        if (found != expected) {
            throw new IllegalStateException(way + ": " + found + " of " + expected);
        }
        if (counts) {
            comparison.add(way, (double) took / expected);
        }
    }
}
