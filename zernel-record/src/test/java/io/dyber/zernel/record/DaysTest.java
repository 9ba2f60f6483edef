package io.dyber.zernel.record;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.record.attach.CompiledPrograms;
import io.dyber.zernel.record.event.CallMeaning;
import io.dyber.zernel.record.event.CallShape.Role;
import io.dyber.zernel.record.event.CallShape.Slot;
import io.dyber.zernel.record.event.CallShape;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.Layer;
import io.dyber.zernel.record.event.RowEnricher;
import io.dyber.zernel.record.event.StringDictionary;
import io.dyber.zernel.record.job.Job;
import io.dyber.zernel.record.schema.Field;
import io.dyber.zernel.record.schema.Schema;
import io.dyber.zernel.record.schema.Wire;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import javax.management.JMException;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// What the recorder keeps of a job that makes many processes, threads and names, as some do in days. The records are made
/// up; what is counted are the objects that are still there. A million of each with `-Dzernel.many=1000000`.
class DaysTest {
    private static final int MANY = Integer.getInteger("zernel.many", 100_000);
    private static final int NAMES = 600_000;
    private static final int ENTER = 0;
    private static final int RETURN = 0x8000;
    private static final short FORK = 1;
    private static final short EXIT = 2;
    private static final short THREAD = 3;
    private static final short ALLOC = 4;
    private static final short OPEN = 5;
    private static final short CLOSE = 6;
    private static final int JOB = 77;

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment record = arena.allocate(1024, 8);
    private final ByteBuffer data = record.asByteBuffer().order(ByteOrder.nativeOrder());
    private final StringDictionary texts = new StringDictionary();
    private final Schema schema = CompiledPrograms.schema(List.of());
    private final Wire wire = CompiledPrograms.wire();
    private long time = 1_000_000_000L;
    private long rows;
    private final Job job = new Job(schema, texts, name -> name);
    private final Decoder decoder = new Decoder(schema, wire, texts, 0, 4096, batch -> rows += batch.rows());
    private final int childPid = offset("child_pid");
    private final int childTid = offset("child_tid");
    DaysTest() {
        decoder.onceGone(job::gone);
        decoder.interpret("process", job.processes());
        decoder.name(FORK, "fork");
        decoder.name(EXIT, "exit");
        decoder.name(THREAD, "thread");
        Slot bytes = new Slot("bytes", 8, false);
        Slot addr = new Slot("addr", 8, false);
        Slot handle = new Slot("", 8, false);
        define(ALLOC, "gpu_alloc", Role.CALL, List.of(bytes), List.of(addr), job.interpretation(CallMeaning.ALLOCATION));
        define(OPEN, "region", Role.OPEN, List.of(), List.of(handle), RowEnricher.NONE);
        define(CLOSE, "region", Role.CLOSE, List.of(handle), List.of(), RowEnricher.NONE);
    }

    private void define(
            int id, String kind, Role role, List<Slot> onEnter, List<Slot> onReturn, RowEnricher interpretation) {
        String text = role == Role.OPEN ? "name" : "";
        decoder.define(
                id,
                new CallShape(kind, kind, role, onEnter, onReturn, text, true, true, Layer.NONE, List.of(), interpretation));
    }

    private int offset(String field) {
        return schema.kinds().get(Decoder.numberOf(schema, "process") - 1).fields().stream()
                .filter(candidate -> candidate.name().equals(field))
                .mapToInt(Field::offset)
                .findFirst()
                .orElseThrow();
    }

    @AfterEach
    void free() {
        arena.close();
    }

    @Test
    void processesThatHaveEndedAreForgotten() {
        for (int i = 1; i <= MANY; i++) {
            int pid = 1000 + i;
            life(FORK, JOB, pid, pid);
            call(ALLOC, RETURN, pid, 0x7000_0000L + i);
            enter(OPEN, pid, "epoch");
            call(OPEN, RETURN, pid, 0xabc);
            call(ALLOC, ENTER, pid, 4096);
            life(EXIT, pid, 0, 0);
        }
        assertThat(alive("OpenCalls")).isLessThan(20_000);
        assertThat(alive("CallReader$OpenSpan")).isLessThan(20_000);
        assertThat(alive("DeviceMemory$Allocation")).isLessThan(20_000);
        assertThat(bytesAlive()).isLessThan(100_000_000);
        decoder.finish();
        assertThat(rows).isEqualTo(5L * MANY);
        assertThat(decoder.counts().unreturnedRows(OPEN)).isEqualTo(MANY);
    }

    @Test
    void threadsThatHaveEndedAreForgottenEvenIfTheyNeverReturned() {
        for (int i = 1; i <= MANY; i++) {
            life(THREAD, JOB, 0, 1000 + i);
            callOf(JOB, 1000 + i, ALLOC, ENTER, 4096, "");
            if (i % 2 == 0) {
                callOf(JOB, 1000 + i, ALLOC, RETURN, 0x7000_0000L, "");
            }
        }
        assertThat(alive("OpenCalls")).isLessThan(40_000);
        decoder.finish();
        assertThat(decoder.counts().events(ALLOC)).isEqualTo(MANY);
        assertThat(decoder.counts().unreturnedRows(ALLOC)).isEqualTo(MANY / 2);
    }

    @Test
    void aThreadNumberThatIsUsedAgainGivesUpTheCallsBefore() {
        call(ALLOC, ENTER, JOB + 1, 4096);
        life(THREAD, JOB, 0, JOB + 1);
        decoder.finish();
        assertThat(decoder.counts().unreturnedRows(ALLOC)).isEqualTo(1);
        assertThat(rows).isEqualTo(2);
    }

    @Test
    void ofTooManyNamesNewOnesShareOne() {
        for (int i = 1; i <= NAMES; i++) {
            enter(OPEN, JOB, "step " + i);
            call(OPEN, RETURN, JOB, 0xabc);
            call(CLOSE, ENTER, JOB, 0xabc);
        }
        assertThat(texts.size()).isEqualTo(500_001);
        assertThat(texts.caveats()).singleElement().asString()
                .endsWith(" names are '<too many texts>': there were more than 500000 different ones, or 64 MB of them");
        assertThat(texts.text(500_000)).isEqualTo("<too many texts>");
        decoder.finish();
        assertThat(rows).isEqualTo(NAMES);
        assertThat(decoder.counts().leftOut(CLOSE)).isEqualTo(NAMES);
    }

    @Test
    void ofTooManyLongTextsNewOnesShareOne() {
        long bytes = 0;
        for (int i = 0; i < 60_000; i++) {
            bytes += texts.text(texts.idOfMany("x".repeat(5000) + i)).equals("<too many texts>") ? 0 : 5000;
        }
        assertThat(bytes).isBetween(60_000_000L, 64L << 20);
        assertThat(texts.text(texts.size() - 1)).isEqualTo("<too many texts>");
        assertThat(texts.caveats()).singleElement().asString()
                .endsWith(" names are '<too many texts>': there were more than 500000 different ones, or 64 MB of them");
    }

    private void life(short name, int pid, int newPid, int newTid) {
        head(pid, pid, name);
        record.set(JAVA_SHORT_UNALIGNED, 28, (short) Decoder.numberOf(schema, "process"));
        record.set(JAVA_INT_UNALIGNED, childPid, newPid == 0 ? Integer.MIN_VALUE : newPid);
        record.set(JAVA_INT_UNALIGNED, childTid, newTid == 0 ? Integer.MIN_VALUE : newTid);
        decoder.read(data, 0);
    }

    private void enter(short function, int pid, String text) {
        callOf(pid, pid, function, ENTER, 0, text);
    }

    private void call(short function, int phase, int pid, long slot) {
        if (function == ALLOC && phase == RETURN) {
            callOf(pid, pid, function, ENTER, 4096, "");
        }
        callOf(pid, pid, function, phase, slot, "");
    }

    private void callOf(int pid, int tid, short function, int phase, long slot, String text) {
        head(pid, tid, function);
        record.set(JAVA_LONG_UNALIGNED, 0, time);
        record.set(JAVA_LONG_UNALIGNED, 8, 0x1000);
        record.set(JAVA_SHORT_UNALIGNED, 28, (short) phase);
        record.set(JAVA_LONG_UNALIGNED, phase == ENTER ? wire.slot() : wire.returnSlot(), slot);
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        record.set(JAVA_INT_UNALIGNED, wire.textLength(), bytes.length);
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, record, wire.text(), bytes.length);
        decoder.read(data, 0);
    }

    /// The members of `struct head`, at the offsets that [Wire#of] checks. A millisecond passes.
    private void head(int pid, int tid, short function) {
        time += 1_000_000;
        record.fill((byte) 0);
        record.set(JAVA_LONG_UNALIGNED, 0, time);
        record.set(JAVA_LONG_UNALIGNED, 8, Long.MIN_VALUE);
        record.set(JAVA_INT_UNALIGNED, 16, pid);
        record.set(JAVA_INT_UNALIGNED, 20, tid);
        record.set(JAVA_SHORT_UNALIGNED, 30, function);
        record.set(JAVA_LONG_UNALIGNED, 32, 'p');
    }

    private static long alive(String type) {
        return histogram().lines()
                .map(line -> line.strip().split("\\s+"))
                .filter(words -> words.length > 3 && words[3].endsWith("." + type))
                .mapToLong(words -> Long.parseLong(words[1]))
                .sum();
    }

    private static long bytesAlive() {
        return histogram().lines()
                .filter(line -> line.startsWith("Total"))
                .mapToLong(line -> Long.parseLong(line.split("\\s+")[2]))
                .sum();
    }

    private static String histogram() {
        try {
            return (String) ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "gcClassHistogram",
                            new Object[] {new String[0]},
                            new String[] {String[].class.getName()});
        } catch (JMException e) {
            throw new AssertionError(e);
        }
    }
}
