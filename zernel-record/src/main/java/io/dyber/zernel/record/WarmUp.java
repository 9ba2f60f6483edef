package io.dyber.zernel.record;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.event.CallShape;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.recording.OutputException;
import io.dyber.zernel.record.recording.RecordingFile;
import io.dyber.zernel.record.schema.Schema;
import io.dyber.zernel.record.schema.Wire;
import io.dyber.zernel.record.session.FooterFacts;
import io.dyber.zernel.record.session.Session;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// Runs made-up records through the decoder and into a recording that nobody gets, until the JVM has compiled that way.
///
/// Interpreted, a record costs some ten microseconds, more than the probe that sends it: a job that calls a probed
/// function often would fill the ring in the recorder's first seconds.
///
/// It takes up to 0.9 s of one CPU in a thread of its own. Belongs to the thread that began it.
final class WarmUp implements AutoCloseable {
    private static final long MOST_NANOS = TimeUnit.MILLISECONDS.toNanos(900);
    private static final int ROUNDS = 100_000;
    private static final int RECORD = 512;
    private static final int CALL_ID = 2;

    private final Schema schema;
    private final Thread thread = Thread.ofPlatform().daemon().name("zernel-warm-up").unstarted(this::run);
    private volatile boolean ended;

    private WarmUp(Schema schema) {
        this.schema = schema;
    }

    static WarmUp begin(Schema schema) {
        WarmUp warming = new WarmUp(schema);
        warming.thread.start();
        return warming;
    }

    /// Waits until the JVM is warm.
    void await() {
        try {
            thread.join();
        } catch (InterruptedException _) {
            // Then the recording stops as soon as it has begun.
            Thread.currentThread().interrupt();
        }
    }

    /// Ends it early where it still runs, and waits until nothing is left of it: a recorder that cannot record exits at
    /// once, and what runs while the JVM exits fails.
    @Override
    public void close() {
        ended = true;
        await();
    }

    private void run() {
        try {
            Path folder = Files.createTempDirectory("zernel-warm-up");
            StringDictionary texts = new StringDictionary();
            try (RecordingFile scratch = RecordingFile.create(
                    folder.resolve("scratch.parquet"), schema.columns(), texts, new RecordingFile.Options())) {
                scratch.discard();
                decode(new Decoder(schema, CompiledPrograms.wire(), texts, 0, Session.BATCH_ROWS, scratch::write));
            }
            Files.deleteIfExists(folder);
            describe();
        } catch (IOException | OutputException | OutOfMemoryError | LinkageError e) {
            // Without a temporary folder, or the memory, or while the JVM exits, the first second of a busy job may find the
            // ring full, which is counted.
            System.getLogger(WarmUp.class.getName()).log(System.Logger.Level.DEBUG, "warming up", e);
        }
    }

    private void decode(Decoder decoder) {
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
        for (int i = 0; i < ROUNDS && !ended && System.nanoTime() - start < MOST_NANOS; i++) {
            for (int at = 0; at < 4 * RECORD; at += RECORD) {
                decoder.read(records, at);
            }
        }
        decoder.finish();
    }

    /// The first description of a recording is written before it begins, and loads the JSON library.
    private void describe() {
        Footer.SystemCallOverhead systemCalls = new Footer.SystemCallOverhead(null, null, null, "", 0, 0);
        String _ = Footer.json(List.of(
                FooterFacts.schema(schema),
                new Footer.Overhead(null, null, null, null, null, "", 0, 0, 0, null, null, null, List.of(), systemCalls)));
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
