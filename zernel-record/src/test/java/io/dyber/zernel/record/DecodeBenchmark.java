package io.dyber.zernel.record;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import com.sun.management.ThreadMXBean;
import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.event.CallShape;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.schema.Schema;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;

/// What decoding a call takes, from its two records to its row: time and allocation. Not a test; run its `main` with the
/// test class path: `java -cp ... io.dyber.zernel.record.DecodeBenchmark [rounds]`, with `-XX:TieredStopAtLevel=1` for the
/// recorder's first seconds.
final class DecodeBenchmark {
    private static final int CALLS = 200_000;
    private static final short FUNCTION = 1_000;
    private static final int THREAD = 70_000;

    private DecodeBenchmark() {}

    /// Prints the median.
    public static void main(String[] args) {
        int rounds = args.length > 0 ? Integer.parseInt(args[0]) : 15;
        Schema schema = CompiledPrograms.schema(List.of());
        Decoder decoder = new Decoder(schema, CompiledPrograms.wire(), new StringDictionary(), 0, 4096, _ -> {});
        CallShape.Slot slot = new CallShape.Slot("bytes", 8, true);
        decoder.define(
                FUNCTION,
                new CallShape("call", "call", CallShape.Role.CALL, List.of(slot), List.of(slot), "", true));
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        double[] nanos = new double[rounds];
        double bytes = 0;
        try (Arena arena = Arena.ofShared()) {
            MemorySegment records = arena.allocate(512, 8);
            head(records, 0, 0);
            head(records, 256, 0x8000);
            ByteBuffer data = records.asByteBuffer().order(ByteOrder.nativeOrder());
            for (int round = 0; round < rounds; round++) {
                long allocated = threads.getCurrentThreadAllocatedBytes();
                long start = threads.getCurrentThreadCpuTime();
                for (int i = 0; i < CALLS; i++) {
                    decoder.read(data, 0);
                    decoder.read(data, 256);
                }
                nanos[round] = (double) (threads.getCurrentThreadCpuTime() - start) / CALLS;
                bytes = (double) (threads.getCurrentThreadAllocatedBytes() - allocated) / CALLS;
            }
        }
        Arrays.sort(nanos);
        System.out.printf(
                "%.0f ns a call (%.0f..%.0f), %.1f bytes allocated a call%n",
                nanos[rounds / 2],
                nanos[0],
                nanos[rounds - 1],
                bytes);
    }

    private static void head(MemorySegment records, long at, int call) {
        records.set(JAVA_LONG_UNALIGNED, at, 1);
        records.set(JAVA_LONG_UNALIGNED, at + 8, 0x7000);
        records.set(JAVA_INT_UNALIGNED, at + 16, THREAD);
        records.set(JAVA_INT_UNALIGNED, at + 20, THREAD);
        records.set(JAVA_SHORT_UNALIGNED, at + 28, (short) call);
        records.set(JAVA_SHORT_UNALIGNED, at + 30, FUNCTION);
    }
}
