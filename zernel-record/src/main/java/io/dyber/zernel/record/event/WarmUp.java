package io.dyber.zernel.record.event;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/// Decodes made-up records until the JVM has compiled the decoder and what takes its rows.
///
/// Interpreted, a record costs some ten microseconds, more than the probe that sends it: a job that calls a probed
/// function often would fill the ring in the recorder's first seconds.
public final class WarmUp {
    private static final long MOST_NANOS = TimeUnit.MILLISECONDS.toNanos(900);
    private static final int ROUNDS = 100_000;
    private static final int RECORD = 512;
    private static final int CALL_ID = 2;

    private WarmUp() {}

    /// Takes up to 0.9 s of one CPU.
    public static void run(Schema schema, Wire wire, Texts texts, int batchRows, Consumer<Batch> full) {
        Decoder decoder = new Decoder(schema, wire, texts, 0, batchRows, full);
        decoder.name(1, "read");
        CallShape.Slot slot = new CallShape.Slot("", 8, true);
        decoder.define(
                CALL_ID,
                new CallShape("call", "warm", CallShape.Role.CALL, List.of(slot, slot), List.of(slot), "", true));
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment records = arena.allocate(4L * RECORD, 8);
            head(records, 0, Decoder.numberOf(schema, "io"), 1);
            head(records, RECORD, Decoder.numberOf(schema, "wait"), 1);
            head(records, 2L * RECORD, Decoder.numberOf(schema, "call"), CALL_ID);
            head(records, 3L * RECORD, Decoder.numberOf(schema, "call"), CALL_ID);
            records.set(JAVA_SHORT_UNALIGNED, 2L * RECORD + Wire.CALL, (short) 0);
            records.set(JAVA_SHORT_UNALIGNED, 3L * RECORD + Wire.CALL, (short) Wire.RETURNED);
            long start = System.nanoTime();
            for (int i = 0; i < ROUNDS && System.nanoTime() - start < MOST_NANOS; i++) {
                for (long at = 0; at < 4L * RECORD; at += RECORD) {
                    decoder.read(records, at);
                }
            }
        }
        decoder.finish();
    }

    private static void head(MemorySegment records, long at, int kind, int function) {
        records.set(JAVA_LONG_UNALIGNED, at + Wire.START, 1);
        records.set(JAVA_LONG_UNALIGNED, at + Wire.DURATION, 2);
        records.set(JAVA_INT_UNALIGNED, at + Wire.PID, 1);
        records.set(JAVA_INT_UNALIGNED, at + Wire.TID, 1);
        records.set(JAVA_SHORT_UNALIGNED, at + Wire.KIND, (short) kind);
        records.set(JAVA_SHORT_UNALIGNED, at + Wire.FUNCTION, (short) function);
        records.set(JAVA_BYTE, at + Wire.COMM, (byte) 'w');
    }
}
