package io.dyber.zernel.record.event;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.event.CallShape.Role;
import io.dyber.zernel.record.event.CallShape.Slot;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import io.dyber.zernel.record.schema.EventType;
import io.dyber.zernel.record.schema.Field;
import io.dyber.zernel.record.schema.FieldType;
import io.dyber.zernel.record.schema.Schema;
import io.dyber.zernel.record.schema.Wire;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// How records become rows, on records written by hand with the layout of the C structs.
final class DecoderTest {
    private static final int ENTER = 0;
    private static final int RETURN = Wire.RETURNED;
    private static final int STEP = 7;
    private static final int OPEN = 8;
    private static final int CLOSE = 9;
    private static final Wire WIRE = new Wire(48, 32, 144, 152);
    private static final Schema SCHEMA = Schema.of(
            List.of(
                    new EventType("call", "", head(), 48),
                    new EventType("region", "", head(), 48),
                    new EventType("gpu", "", nesting(), 56)),
            List.of(
                    new Column("bytes", ColumnType.BIGINT, "bytes", ""),
                    new Column("status", ColumnType.BIGINT, "", "")));

    private static final int WRAPPER = 10;
    private static final int RUNTIME = 11;
    private static final int DRIVER = 12;
    private static final int NESTING = 13;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment record = arena.allocate(512, 8);
    private final StringDictionary texts = new StringDictionary();
    private final List<String> rows = new ArrayList<>();
    private final Decoder decoder = new Decoder(SCHEMA, WIRE, texts, 1000, 16, this::keep);

    private static List<Field> head() {
        return List.of(
                new Field("ts_ns", FieldType.TIME, 0, 8, ""),
                new Field("dur_ns", FieldType.DURATION, 8, 8, ""),
                new Field("pid", FieldType.PROCESS, 16, 4, ""),
                new Field("tid", FieldType.THREAD, 20, 4, ""),
                new Field("cpu", FieldType.CPU, 24, 4, ""),
                new Field("comm", FieldType.TEXT, 32, 16, ""));
    }

    private static List<Field> nesting() {
        List<Field> fields = new ArrayList<>(head());
        fields.add(new Field("depth", FieldType.NUMBER, 48, 8, ""));
        return fields;
    }

    DecoderTest() {
        decoder.define(
                STEP,
                new CallShape(
                        "call",
                        "step",
                        Role.CALL,
                        List.of(new Slot("bytes", 4, true)),
                        List.of(new Slot("status", 4, true)),
                        "",
                        true));
        Slot handle = new Slot("", 8, false);
        decoder.define(
                OPEN, new CallShape("region", "enter", Role.OPEN, List.of(), List.of(handle), "name", true));
        List.of(WRAPPER, RUNTIME).forEach(function -> defineLaunch(function, Layer.RUNTIME));
        defineLaunch(DRIVER, Layer.DRIVER);
        decoder.define(NESTING, new CallShape("gpu", "launch", Role.CALL, List.of(), List.of(), "", true));
        decoder.define(CLOSE, new CallShape("region", "exit", Role.CLOSE, List.of(handle), List.of(), "", true));
    }

    private void defineLaunch(int function, Layer layer) {
        decoder.define(
                function,
                new CallShape(
                        "call",
                        layer.title() + function,
                        Role.CALL,
                        List.of(new Slot("bytes", 8, true)),
                        List.of(new Slot("status", 4, true)),
                        "",
                        true,
                        false,
                        layer,
                        List.of(),
                        RowEnricher.NONE));
    }

    @AfterEach
    void free() {
        arena.close();
    }

    private void keep(Batch batch) {
        for (int row = 0; row < batch.rows(); row++) {
            String depth = cell(batch, "depth", row);
            rows.add(cell(batch, "name", row) + " " + cell(batch, "ts_ns", row) + "+" + cell(batch, "dur_ns", row)
                    + (depth.equals("-")
                            ? " tid " + cell(batch, "tid", row) + " bytes " + cell(batch, "bytes", row) + " status "
                                    + cell(batch, "status", row)
                            : " depth " + depth));
        }
    }

    private String cell(Batch batch, String column, int row) {
        int index = SCHEMA.index(column);
        if (batch.isNull(index, row)) {
            return "-";
        }
        long value = batch.value(index, row);
        return SCHEMA.columns().get(index).type() == ColumnType.VARCHAR ? texts.text((int) value) : "" + value;
    }

    /// Sends one record. `time` is the start on entry, the end on return.
    private void send(int function, int phase, int tid, long time, long sp, long slot, String text) {
        record.fill((byte) 0);
        record.set(JAVA_LONG_UNALIGNED, Wire.TIME, time);
        record.set(JAVA_LONG_UNALIGNED, Wire.STACK_POINTER, sp);
        record.set(JAVA_INT_UNALIGNED, Wire.PID, 100);
        record.set(JAVA_INT_UNALIGNED, Wire.TID, tid);
        record.set(JAVA_SHORT_UNALIGNED, Wire.FUNCTION, (short) function);
        record.set(JAVA_SHORT_UNALIGNED, Wire.CALL, (short) phase);
        record.set(JAVA_INT_UNALIGNED, WIRE.textLength(), text.length());
        record.set(JAVA_LONG_UNALIGNED, phase == ENTER ? WIRE.slot() : WIRE.returnSlot(), slot);
        MemorySegment.copy(
                MemorySegment.ofArray(text.getBytes(StandardCharsets.UTF_8)), 0, record, WIRE.text(), text.length());
        decoder.read(record.asByteBuffer().order(ByteOrder.nativeOrder()), 0);
    }

    private void enter(int function, int tid, long time, long sp, long slot) {
        send(function, ENTER, tid, time, sp, slot, "");
    }

    private void leave(int function, int tid, long time, long sp, long slot) {
        send(function, RETURN, tid, time, sp, slot, "");
    }

    private List<String> rows() {
        decoder.finish();
        return rows;
    }

    @Test
    void aCallBecomesOneRowWithItsArgumentAndResult() {
        enter(STEP, 1, 50, 0x100, 4096);
        leave(STEP, 1, 80, 0x100, -22);
        assertThat(rows()).containsExactly("step 1050+30 tid 1 bytes 4096 status -22");
    }

    @Test
    void callsOfBothLayersInsideOneAnotherAreOneRow() {
        enter(WRAPPER, 1, 10, 0x100, 1);
        enter(RUNTIME, 1, 11, 0x100, 2);
        enter(DRIVER, 1, 12, 0x80, 3);
        leave(DRIVER, 1, 13, 0x80, 0);
        leave(RUNTIME, 1, 14, 0x100, 0);
        leave(WRAPPER, 1, 15, 0x100, 0);
        assertThat(rows()).containsExactly("driver12 1012+1 tid 1 bytes 3 status 0");
        assertThat(List.of(WRAPPER, RUNTIME, DRIVER).stream().map(decoder.counts()::covered)).containsExactly(1L, 1L, 0L);
        assertThat(List.of(WRAPPER, RUNTIME, DRIVER).stream().map(decoder.counts()::events)).containsExactly(0L, 0L, 1L);
    }

    @Test
    void withoutTheDriverTheInnermostCallOfTheRuntimeIsTheRow() {
        enter(WRAPPER, 1, 10, 0x100, 1);
        enter(RUNTIME, 1, 11, 0x100, 2);
        leave(RUNTIME, 1, 14, 0x100, 0);
        leave(WRAPPER, 1, 15, 0x100, 0);
        assertThat(rows()).containsExactly("runtime11 1011+3 tid 1 bytes 2 status 0");
    }

    @Test
    void aCallOfTheRuntimeThatMakesNoneOfTheDriverIsARow() {
        enter(RUNTIME, 1, 10, 0x100, 1);
        leave(RUNTIME, 1, 11, 0x100, 0);
        enter(DRIVER, 1, 12, 0x100, 2);
        leave(DRIVER, 1, 13, 0x100, 0);
        enter(STEP, 1, 14, 0x200, 3);
        enter(DRIVER, 1, 15, 0x100, 4);
        leave(DRIVER, 1, 16, 0x100, 0);
        leave(STEP, 1, 17, 0x200, 0);
        assertThat(rows())
                .containsExactly(
                        "runtime11 1010+1 tid 1 bytes 1 status 0",
                        "driver12 1012+1 tid 1 bytes 2 status 0",
                        "driver12 1015+1 tid 1 bytes 4 status 0",
                        "step 1014+3 tid 1 bytes 3 status 0");
    }

    @Test
    void callsWhoseEndsAreNotSeenAnyMoreAreLeftToThoseInsideThem() {
        enter(RUNTIME, 1, 10, 0x100, 1);
        enter(RUNTIME, 2, 30, 0x100, 2);
        assertThat(decoder.isOpen(Set.of(WRAPPER), 100)).isFalse();
        assertThat(decoder.isOpen(Set.of(RUNTIME), 10)).isFalse();
        assertThat(decoder.isOpen(Set.of(RUNTIME), 11)).isTrue();
        enter(DRIVER, 1, 40, 0x80, 3);
        assertThat(decoder.isOpen(Set.of(RUNTIME), 30)).isFalse();
        decoder.coverOpen(Set.of(RUNTIME));
        leave(DRIVER, 1, 50, 0x80, 0);
        enter(DRIVER, 2, 60, 0x80, 4);
        leave(DRIVER, 2, 70, 0x80, 0);
        assertThat(rows())
                .containsExactly("driver12 1040+10 tid 1 bytes 3 status 0", "driver12 1060+10 tid 2 bytes 4 status 0");
        assertThat(decoder.counts().covered(RUNTIME)).isEqualTo(2);
        assertThat(decoder.counts().unreturnedRows(RUNTIME)).isZero();
    }

    @Test
    void theGarbageInTheUpperHalfOfARegisterIsCutOff() {
        enter(STEP, 1, 50, 0x100, 0xdeadbeef_ffff_fff0L);
        leave(STEP, 1, 80, 0x100, 0x7fff_ffff_0000_0001L);
        assertThat(rows()).containsExactly("step 1050+30 tid 1 bytes -16 status 1");
    }

    @Test
    void recursiveCallsAreToldApartByTheirStackPointer() {
        enter(STEP, 1, 10, 0x300, 1);
        enter(STEP, 1, 20, 0x200, 2);
        leave(STEP, 1, 30, 0x200, 0);
        leave(STEP, 1, 50, 0x300, 0);
        assertThat(rows())
                .containsExactly("step 1020+10 tid 1 bytes 2 status 0", "step 1010+40 tid 1 bytes 1 status 0");
    }

    @Test
    void aCallIsNestedInThoseOfItsKindAroundIt() {
        enter(NESTING, 1, 10, 0x300, 0);
        enter(STEP, 1, 15, 0x280, 0);
        enter(NESTING, 1, 20, 0x200, 0);
        leave(NESTING, 1, 30, 0x200, 0);
        leave(STEP, 1, 35, 0x280, 0);
        leave(NESTING, 1, 50, 0x300, 0);
        assertThat(rows())
                .containsExactly(
                        "launch 1020+10 depth 1", "step 1015+20 tid 1 bytes 0 status 0", "launch 1010+40 depth 0");
    }

    @Test
    void aCallWhoseEndWasMissedHasNoneInItOnceTheStackWasShorter() {
        enter(NESTING, 1, 10, 1000, 0);
        enter(STEP, 1, 20, 2000, 0);
        leave(STEP, 1, 30, 2000, 0);
        enter(NESTING, 1, 40, 500, 0);
        leave(NESTING, 1, 50, 500, 0);
        assertThat(rows())
                .containsExactly(
                        "step 1020+10 tid 1 bytes 0 status 0", "launch 1040+10 depth 0", "launch 1010+- depth 0");
    }

    @Test
    void aCallOnAStackOfItsOwnReturnsAlsoAfterOneOnAHigherStack() {
        enter(NESTING, 1, 10, 1000, 0);
        enter(STEP, 1, 20, 2000, 0);
        leave(STEP, 1, 30, 2000, 0);
        leave(NESTING, 1, 40, 1000, 0);
        assertThat(rows()).containsExactly("step 1020+10 tid 1 bytes 0 status 0", "launch 1010+30 depth 0");
    }

    @Test
    void threadsDoNotMix() {
        enter(STEP, 1, 10, 0x100, 1);
        enter(STEP, 2, 15, 0x100, 2);
        leave(STEP, 1, 20, 0x100, 0);
        leave(STEP, 2, 30, 0x100, 0);
        assertThat(rows())
                .containsExactly("step 1010+10 tid 1 bytes 1 status 0", "step 1015+15 tid 2 bytes 2 status 0");
    }

    @Test
    void aCallLeftByLongjmpIsARowWithoutDuration() {
        enter(STEP, 1, 10, 0x300, 1);
        enter(STEP, 1, 20, 0x200, 2);
        leave(STEP, 1, 50, 0x300, 0);
        assertThat(rows())
                .containsExactly("step 1020+- tid 1 bytes 2 status -", "step 1010+40 tid 1 bytes 1 status 0");
        assertThat(decoder.counts().events(STEP)).isEqualTo(2);
        assertThat(decoder.counts().unreturnedRows(STEP)).isEqualTo(1);
    }

    @Test
    void aSecondEntryAtTheSamePlaceGivesUpTheFirst() {
        enter(STEP, 1, 10, 0x100, 1);
        enter(STEP, 1, 20, 0x100, 2);
        leave(STEP, 1, 30, 0x100, 0);
        assertThat(rows())
                .containsExactly("step 1010+- tid 1 bytes 1 status -", "step 1020+10 tid 1 bytes 2 status 0");
    }

    @Test
    void aReturnWithoutEntryIsCountedAndNoRow() {
        leave(STEP, 1, 30, 0x100, 0);
        assertThat(rows()).isEmpty();
        assertThat(decoder.counts().unmatchedReturns()).isEqualTo(1);
    }

    @Test
    void callsStillOpenAtTheEndAreRowsWithoutDuration() {
        enter(STEP, 1, 10, 0x100, 1);
        assertThat(rows()).containsExactly("step 1010+- tid 1 bytes 1 status -");
    }

    @Test
    void aThreadThatNeverReturnsKeepsABoundedStack() {
        for (int i = 0; i < 5000; i++) {
            enter(STEP, 1, i, 0x10000 + i, i);
        }
        assertThat(rows()).hasSize(5000);
        assertThat(decoder.counts().unreturnedRows(STEP)).isEqualTo(5000);
    }

    @Test
    void aRegionLastsFromItsEnterToTheExitWithItsHandle() {
        send(OPEN, ENTER, 1, 10, 0x100, 0, "Optimizer.step#AdamW.step");
        leave(OPEN, 1, 12, 0x100, 0xabc);
        enter(CLOSE, 2, 90, 0x80, 0xabc);
        assertThat(rows()).containsExactly("Optimizer.step#AdamW.step 1010+80 tid 1 bytes - status -");
    }

    @Test
    void overlappingRegionsEndWithTheirOwnHandles() {
        send(OPEN, ENTER, 1, 10, 0x100, 0, "outer");
        leave(OPEN, 1, 11, 0x100, 1);
        send(OPEN, ENTER, 1, 20, 0x100, 0, "inner");
        leave(OPEN, 1, 21, 0x100, 2);
        enter(CLOSE, 1, 30, 0x100, 1);
        enter(CLOSE, 1, 40, 0x100, 2);
        assertThat(rows())
                .containsExactly(
                        "outer 1010+20 tid 1 bytes - status -", "inner 1020+20 tid 1 bytes - status -");
    }

    @Test
    void aRegionThatIsStillOpenAtTheEndIsARowWithoutDuration() {
        send(OPEN, ENTER, 1, 10, 0x100, 0, "Epoch");
        leave(OPEN, 1, 11, 0x100, 1);
        assertThat(rows()).containsExactly("Epoch 1010+- tid 1 bytes - status -");
    }
}
