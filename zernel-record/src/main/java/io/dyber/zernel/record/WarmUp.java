package io.dyber.zernel.record;

import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.CallShape;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.schema.Schema;
import io.dyber.zernel.record.schema.Wire;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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
    public static void run(Schema schema, Wire wire, StringDictionary texts, int batchRows, Consumer<Batch> full) {
        Decoder decoder = new Decoder(schema, wire, texts, 0, batchRows, full);
        decoder.name(1, "read");
        CallShape.Slot slot = new CallShape.Slot("", 8, true);
        decoder.define(
                CALL_ID,
                new CallShape("call", "warm", CallShape.Role.CALL, List.of(slot, slot), List.of(slot), "", true));
        ByteBuffer records = ByteBuffer.allocateDirect(4 * RECORD).order(ByteOrder.nativeOrder());
        head(records, 0, Decoder.numberOf(schema, "io"), 1);
        head(records, RECORD, Decoder.numberOf(schema, "wait"), 1);
        head(records, 2 * RECORD, Decoder.numberOf(schema, "call"), CALL_ID);
        head(records, 3 * RECORD, Decoder.numberOf(schema, "call"), CALL_ID);
        records.putShort(2 * RECORD + Wire.CALL, (short) 0);
        records.putShort(3 * RECORD + Wire.CALL, (short) Wire.RETURNED);
        long start = System.nanoTime();
        for (int i = 0; i < ROUNDS && System.nanoTime() - start < MOST_NANOS; i++) {
            for (int at = 0; at < 4 * RECORD; at += RECORD) {
                decoder.read(records, at);
            }
        }
        decoder.finish();
    }

    private static void head(ByteBuffer records, int at, int kind, int function) {
        records.putLong(at + Wire.START, 1);
        records.putLong(at + Wire.DURATION, 2);
        records.putInt(at + Wire.PID, 1);
        records.putInt(at + Wire.TID, 1);
        records.putShort(at + Wire.KIND, (short) kind);
        records.putShort(at + Wire.FUNCTION, (short) function);
        records.put(at + Wire.COMM, (byte) 'w');
    }
}
