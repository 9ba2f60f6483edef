package io.dyber.zernel.record.event;

import io.dyber.zernel.record.event.CallShape.Slot;
import io.dyber.zernel.record.schema.Schema;
import io.dyber.zernel.record.schema.Wire;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Joins the entry and return records of probed functions into rows (`bpf/functions.bpf.c`); whole calls are rows as
/// they come.
///
/// Every call that was entered becomes exactly one row: when it returns, or with a NULL duration when it is known
/// that it did not (longjmp, thread exit, end of the recording). Not thread-safe.
final class CallReader {
    private static final int NO_TEXT = -1;
    private static final int MOST_WORDS = 32;

    /// Identity of an open span: handles are addresses, so they are unique in a process only.
    private record Handle(int pid, long address) {}

    private record OpenSpan(int function, long start, int pid, int tid, int cpu, int comm, int text) {}

    private final Wire wire;
    private final Schema schema;
    private final StringDictionary texts;
    private final ThreadNames comms;
    private final Rows rows;
    private final long clockOffset;
    private @Nullable Shape[] shapes = new Shape[64];
    private final OpenThreads threads = new OpenThreads();
    private final OpenThreads vitalThreads = new OpenThreads();
    private final Map<Handle, OpenSpan> spans = new HashMap<>();
    private final Map<Integer, Long> births = new HashMap<>();
    private final CallCounts counts;
    private final StackTexts stacks;
    private final int stackColumn;
    private final Row row;
    private final int depthColumn;
    private final int enterSlot;
    private final int returnSlot;
    private final long[] head = new long[MOST_WORDS];
    private @Nullable ByteBuffer source;
    private LongBuffer sourceWords = LongBuffer.allocate(0);

    CallReader(
            Wire wire,
            Schema schema,
            StringDictionary texts,
            ThreadNames comms,
            Rows rows,
            long clockOffset,
            CallCounts counts,
            StackTexts stacks) {
        this.wire = wire;
        this.schema = schema;
        this.texts = texts;
        this.comms = comms;
        this.rows = rows;
        this.clockOffset = clockOffset;
        this.counts = counts;
        this.stacks = stacks;
        this.stackColumn = schema.has("stack") ? schema.index("stack") : -1;
        this.row = new Row(rows);
        this.enterSlot = wire.slot() >> 3;
        this.returnSlot = wire.returnSlot() >> 3;
        this.depthColumn = schema.has("depth") ? schema.index("depth") : -1;
    }

    /// A shape with its columns and texts looked up.
    private final class Shape {
        final int function;
        final CallShape call;
        final int kindText;
        final int nameText;
        final int[] enterColumns;
        final Slot[] enterSlots;
        final int[] returnColumns;
        final Slot[] returnSlots;
        final int textColumn;
        final int[] constantColumns;
        final long[] constants;
        final boolean nests;
        final boolean interpreted;
        /// The columns that every row has.
        final long[] present;
        /// Of a record, as far as it is read.
        final int words;

        Shape(int function, CallShape call) {
            this.function = function;
            this.call = call;
            this.kindText = texts.id(call.kind());
            this.nameText = texts.id(call.name());
            this.enterColumns = columns(call.onEnter());
            this.enterSlots = call.onEnter().toArray(Slot[]::new);
            this.returnColumns = columns(call.onReturn());
            this.returnSlots = call.onReturn().toArray(Slot[]::new);
            this.interpreted = !RowEnricher.NONE.equals(call.interpretation());
            this.textColumn = call.textColumn().isEmpty() ? -1 : schema.index(call.textColumn());
            this.constantColumns = call.constants().stream().mapToInt(constant -> schema.index(constant.column())).toArray();
            this.constants = call.constants().stream()
                    .mapToLong(constant -> constant.isText() ? texts.id(constant.text()) : constant.number())
                    .toArray();
            this.nests = schema.kinds().stream()
                    .filter(kind -> kind.kind().equals(call.kind()))
                    .anyMatch(kind -> kind.fields().stream().anyMatch(field -> field.name().equals("depth")));
            this.words = Math.max(
                    enterSlot + Math.max(1, Math.max(enterColumns.length, returnColumns.length)),
                    returnSlot + Math.max(1, returnColumns.length));
            this.present = rows.columns(rows.name, rows.start, rows.pid, rows.tid, rows.cpu, rows.comm);
            for (int column : constantColumns) {
                present[column >> 6] |= 1L << column;
            }
        }

        /// Calls of one thread that come through the same ring come in order.
        OpenThreads threads() {
            return call.vital() ? vitalThreads : threads;
        }
    }

    void define(int function, CallShape call) {
        if (function >= shapes.length) {
            shapes = Arrays.copyOf(shapes, Math.max(function + 1, 2 * shapes.length));
        }
        shapes[function] = new Shape(function, call);
    }

    private @Nullable Shape shape(int function) {
        return function < shapes.length ? shapes[function] : null;
    }

    private int[] columns(List<Slot> slots) {
        return slots.stream()
                .mapToInt(slot -> slot.column().isEmpty() ? -1 : schema.index(slot.column()))
                .toArray();
    }

    /// A thread was created at this CLOCK_MONOTONIC time.
    ///
    /// @param forked whether it is the first of a new process. That also returns from the calls its parent had open; those
    ///     are the parent's and are dropped.
    void born(int tid, long time, boolean forked) {
        if (forked) {
            births.put(tid, time);
        }
        threads.end(tid, open -> abandon(open, 0));
        vitalThreads.end(tid, open -> abandon(open, 0));
    }

    /// Lets go of what is known of threads that are in no call, and of processes that are gone.
    void release(Set<Integer> gone) {
        births.keySet().removeAll(gone);
        threads.release(gone, open -> abandon(open, 0));
        vitalThreads.release(gone, open -> abandon(open, 0));
        spans.entrySet().removeIf(span -> {
            boolean ended = gone.contains(span.getKey().pid);
            if (ended) {
                giveUp(span.getValue());
            }
            return ended;
        });
    }

    void read(ByteBuffer data, int at, int function) {
        Shape shape = shape(function);
        if (shape == null) {
            counts.unknown++;
            return;
        }
        load(data, at, shape.words);
        int call = call();
        if ((call & Wire.RETURNED) == 0) {
            enter(shape, data, at, function);
        } else if (shape.call.sendsEnter()) {
            leave(shape, function);
        } else {
            addWhole(shape, function);
        }
    }

    /// Copies the words of a record: what C1 compiles reads them from an array in a fraction of the time. Records begin at
    /// multiples of 8.
    @SuppressWarnings("ReferenceEquality")
    private void load(ByteBuffer data, int at, int words) {
        if (source != data) {
            source = data;
            sourceWords = data.duplicate().order(ByteOrder.nativeOrder()).clear().asLongBuffer();
        }
        int from = at >> 3;
        sourceWords.get(from, head, 0, Math.min(words, sourceWords.limit() - from));
    }

    private void enter(Shape shape, ByteBuffer data, int at, int function) {
        switch (shape.call.role()) {
            case CALL, OPEN, FACT -> push(shape, data, at, function);
            case INSTANT, INSTANT_FACT -> addInstant(shape, data, at, function);
            case CLOSE -> {
                counts.passOver(function);
                close();
            }
        }
    }

    private void push(Shape shape, ByteBuffer data, int at, int function) {
        int tid = tid();
        OpenCalls open = shape.threads().of(tid);
        if (open.isFull()) {
            addUnreturned(open.frames(), 0);
            open.drop(0);
        }
        long sp = head[Wire.STACK_POINTER >> 3];
        abandon(open, open.find(function, sp));
        open.pass(sp);
        if (shape.call.layer() != Layer.NONE) {
            coverAround(open, sp, shape.kindText);
        }
        int depth = shape.nests ? open.around(sp, shape.kindText) : 0;
        int frame = open.push();
        fill(open.frames(), frame, shape, data, at, function, sp, depth);
        if ((data.getShort(at + Wire.CALL) & Wire.UNENDED) != 0) {
            addUnreturned(open.frames(), frame);
            open.drop(open.depth() - 1);
        }
    }

    /// Calls of the runtime around this one are the same operation.
    private void coverAround(OpenCalls open, long sp, int kindText) {
        for (int i = 0; i < open.depth(); i++) {
            if (open.isAround(i, sp, kindText)) {
                cover(open.frames(), i * OpenCalls.FRAME);
            }
        }
    }

    private void cover(long[] frames, int frame) {
        Shape shape = shape((int) frames[frame + OpenCalls.FUNCTION]);
        if (shape != null && shape.call.layer() == Layer.RUNTIME) {
            frames[frame + OpenCalls.COVERED] = 1;
            shape.call.interpretation().handOn(
                    (int) frames[frame + OpenCalls.PID], frames[frame + OpenCalls.SLOTS], frames[frame + OpenCalls.NOTE]);
        }
    }

    /// Whether any call of these functions that was entered before this CLOCK_MONOTONIC time is open and not covered.
    boolean isOpen(Set<Integer> functions, long before) {
        boolean[] found = new boolean[1];
        for (OpenThreads all : List.of(threads, vitalThreads)) {
            all.forEach(open -> {
                for (int i = 0; i < open.depth(); i++) {
                    int frame = i * OpenCalls.FRAME;
                    found[0] |= functions.contains((int) open.frames()[frame + OpenCalls.FUNCTION])
                            && open.frames()[frame + OpenCalls.COVERED] == 0
                            && open.frames()[frame + OpenCalls.START] < before;
                }
            });
        }
        return found[0];
    }

    /// The ends of open calls of these functions will not be seen, and the calls inside them are the rows.
    void coverOpen(Set<Integer> functions) {
        endOpen(functions, true);
    }

    /// The ends of open calls of these functions will not be seen.
    void giveUpOpen(Set<Integer> functions) {
        endOpen(functions, false);
    }

    private void endOpen(Set<Integer> functions, boolean covered) {
        for (OpenThreads all : List.of(threads, vitalThreads)) {
            all.forEach(open -> {
                for (int i = open.depth() - 1; i >= 0; i--) {
                    int frame = i * OpenCalls.FRAME;
                    if (functions.contains((int) open.frames()[frame + OpenCalls.FUNCTION])) {
                        if (covered && open.frames()[frame + OpenCalls.COVERED] == 0) {
                            cover(open.frames(), frame);
                        }
                        addUnreturned(open.frames(), frame);
                        open.drop(i);
                    }
                }
            });
        }
    }

    private void fill(long[] frames, int frame, Shape shape, ByteBuffer data, int at, int function, long sp, int depth) {
        frames[frame + OpenCalls.SP] = sp;
        frames[frame + OpenCalls.FUNCTION] = function;
        frames[frame + OpenCalls.START] = head[Wire.START >> 3];
        frames[frame + OpenCalls.PID] = pid();
        frames[frame + OpenCalls.TID] = tid();
        frames[frame + OpenCalls.CPU] = cpu();
        frames[frame + OpenCalls.COMM] = comm();
        frames[frame + OpenCalls.TEXT] = text(shape, data, at);
        frames[frame + OpenCalls.KIND] = shape.kindText;
        frames[frame + OpenCalls.DEPTH] = depth;
        frames[frame + OpenCalls.BAD] = call();
        for (int i = 0; i < shape.enterColumns.length; i++) {
            frames[frame + OpenCalls.SLOTS + i] = head[enterSlot + i];
        }
        frames[frame + OpenCalls.COVERED] = 0;
        frames[frame + OpenCalls.PASSED] = 0;
        // The calls that are covered by this one look for it here, whether they have a column for it or not.
        frames[frame + OpenCalls.SLOTS] = head[enterSlot];
        frames[frame + OpenCalls.NOTE] =
                shape.call.interpretation().entered((int) frames[frame + OpenCalls.PID], head[enterSlot]);
    }

    private void leave(Shape shape, int function) {
        counts.readReturn(function);
        OpenCalls open = shape.threads().find(tid());
        int found = open == null ? -1 : open.find(function, head[Wire.STACK_POINTER >> 3]);
        if (open == null || found < 0) {
            counts.unmatchedReturns++;
            return;
        }
        abandon(open, found + 1);
        int frame = found * OpenCalls.FRAME;
        if (shape.call.role() == CallShape.Role.OPEN) {
            openSpan(shape, open.frames(), frame);
        } else {
            addReturned(shape, open.frames(), frame);
        }
        open.truncate(found);
    }

    /// Gives up the calls from frame `first` upwards: they were left without returning.
    private void abandon(OpenCalls open, int first) {
        if (first < 0) {
            return;
        }
        for (int i = first; i < open.depth(); i++) {
            addUnreturned(open.frames(), i * OpenCalls.FRAME);
        }
        open.truncate(Math.min(first, open.depth()));
    }

    private void addReturned(Shape shape, long[] frames, int frame) {
        addEntered(shape, frames, frame);
        long end = head[Wire.TIME >> 3];
        rows.put(rows.duration, end - frames[frame + OpenCalls.START]);
        rows.set(rows.cpu, cpu());
        putSlots(shape.returnColumns, shape.returnSlots, returnSlot);
        complete(shape, frames, frame);
    }

    private void addUnreturned(long[] frames, int frame) {
        int function = (int) frames[frame + OpenCalls.FUNCTION];
        Shape shape = shape(function);
        if (shape != null && (shape.call.role() == CallShape.Role.CALL || shape.call.role() == CallShape.Role.FACT)) {
            addEntered(shape, frames, frame);
            if (frames[frame + OpenCalls.COVERED] == 0) {
                counts.unreturned(function);
            }
            complete(shape, frames, frame);
        } else {
            counts.passOver(function);
        }
    }

    private void addEntered(Shape shape, long[] frames, int frame) {
        counts.event((int) frames[frame + OpenCalls.FUNCTION]);
        rows.add(shape.kindText, shape.present);
        int text = (int) frames[frame + OpenCalls.TEXT];
        putName(shape, text);
        rows.set(rows.start, frames[frame + OpenCalls.START] + clockOffset);
        rows.set(rows.pid, frames[frame + OpenCalls.PID]);
        rows.set(rows.tid, frames[frame + OpenCalls.TID]);
        rows.set(rows.cpu, frames[frame + OpenCalls.CPU]);
        rows.set(rows.comm, frames[frame + OpenCalls.COMM]);
        for (int i = 0; i < shape.enterColumns.length; i++) {
            if (shape.enterColumns[i] >= 0 && (frames[frame + OpenCalls.BAD] & (1L << i)) == 0) {
                long raw = frames[frame + OpenCalls.SLOTS + i];
                rows.put(shape.enterColumns[i], value(shape.enterSlots[i], raw));
            }
        }
        putConstants(shape);
        if (shape.nests) {
            rows.put(depthColumn, frames[frame + OpenCalls.DEPTH]);
        }
    }

    /// A labelled value is shown by its label, an unknown one by its number.
    private long value(Slot slot, long raw) {
        long value = slot.value(raw);
        if (slot.labels().isEmpty()) {
            return value;
        }
        boolean known = value >= 0 && value < slot.labels().size();
        return texts.id(known ? slot.labels().get((int) value) : Long.toString(value));
    }

    private void putConstants(Shape shape) {
        for (int i = 0; i < shape.constants.length; i++) {
            rows.set(shape.constantColumns[i], shape.constants[i]);
        }
    }

    private void complete(Shape shape, long[] frames, int frame) {
        if (frames[frame + OpenCalls.COVERED] == 0) {
            complete(shape, frames[frame + OpenCalls.NOTE]);
        } else {
            shape.call.interpretation().completeCovered(row);
            rows.drop();
            counts.cover(shape.function);
        }
    }

    /// The row has all that its records say.
    private void complete(Shape shape, long note) {
        if (shape.interpreted) {
            shape.call.interpretation().complete(row, note);
        }
        if (rows.isLeftOut()) {
            rows.drop();
            counts.leaveOut(shape.function);
        } else if (!shape.call.role().isEvent()) {
            rows.drop();
        }
    }

    private void addWhole(Shape shape, int function) {
        long start = head[Wire.START >> 3];
        if (!births.isEmpty() && start < births.getOrDefault(tid(), Long.MIN_VALUE)) {
            counts.returnTwice(function);
            return;
        }
        addHead(shape, function, NO_TEXT, start);
        rows.put(rows.duration, head[Wire.END >> 3] - start);
        putSlots(shape.returnColumns, shape.returnSlots, enterSlot);
        complete(shape, 0);
    }

    private void addInstant(Shape shape, ByteBuffer data, int at, int function) {
        long note = shape.call.interpretation().entered(pid(), head[enterSlot]);
        addHead(shape, function, text(shape, data, at), head[Wire.START >> 3]);
        putSlots(shape.enterColumns, shape.enterSlots, enterSlot);
        complete(shape, note);
    }

    private void addHead(Shape shape, int function, int text, long start) {
        counts.event(function);
        rows.add(shape.kindText, shape.present);
        putName(shape, text);
        rows.set(rows.start, start + clockOffset);
        rows.set(rows.pid, pid());
        rows.set(rows.tid, tid());
        rows.set(rows.cpu, cpu());
        rows.set(rows.comm, comm());
        putConstants(shape);
    }

    private void putName(Shape shape, int text) {
        boolean named = text != NO_TEXT && shape.textColumn == rows.name;
        rows.set(rows.name, named ? text : shape.nameText);
        if (text != NO_TEXT && shape.textColumn >= 0 && !named) {
            rows.put(shape.textColumn, text);
        }
    }

    private void putSlots(int[] columns, Slot[] slots, int first) {
        int bad = call();
        for (int i = 0; i < columns.length; i++) {
            if (columns[i] >= 0 && (bad & (1 << i)) == 0) {
                putSlot(columns[i], slots[i], head[first + i]);
            }
        }
    }

    private void putSlot(int column, Slot slot, long raw) {
        long value = column == stackColumn ? stacks.text(pid(), raw) : value(slot, raw);
        if (value >= 0 || column != stackColumn) {
            rows.put(column, value);
        }
    }

    private void openSpan(Shape shape, long[] frames, int frame) {
        int pid = (int) frames[frame + OpenCalls.PID];
        int text = (int) frames[frame + OpenCalls.TEXT];
        OpenSpan span = new OpenSpan(
                (int) frames[frame + OpenCalls.FUNCTION],
                frames[frame + OpenCalls.START],
                pid,
                (int) frames[frame + OpenCalls.TID],
                (int) frames[frame + OpenCalls.CPU],
                (int) frames[frame + OpenCalls.COMM],
                text == NO_TEXT ? shape.nameText : text);
        OpenSpan forgotten = spans.put(new Handle(pid, head[returnSlot]), span);
        if (forgotten != null) {
            giveUp(forgotten);
        }
    }

    private void giveUp(OpenSpan span) {
        addSpan(span);
        counts.unreturned(span.function);
    }

    private void close() {
        int pid = pid();
        OpenSpan span = spans.remove(new Handle(pid, head[enterSlot]));
        if (span == null) {
            counts.unmatchedReturns++;
            return;
        }
        addSpan(span);
        rows.put(rows.duration, head[Wire.START >> 3] - span.start);
        rows.put(rows.cpu, cpu());
    }

    private void addSpan(OpenSpan span) {
        counts.event(span.function);
        Shape shape = shape(span.function);
        rows.add(shape == null ? 0 : shape.kindText);
        rows.put(rows.name, span.text);
        rows.put(rows.start, span.start + clockOffset);
        rows.put(rows.pid, span.pid);
        rows.put(rows.tid, span.tid);
        rows.put(rows.cpu, span.cpu);
        rows.put(rows.comm, span.comm);
    }

    /// Gives up everything still open: those rows keep a NULL duration.
    void finish() {
        vitalThreads.clear(open -> abandon(open, 0));
        threads.clear(open -> abandon(open, 0));
        spans.values().forEach(this::giveUp);
        spans.clear();
    }

    private int pid() {
        return (int) head[Wire.PID >> 3];
    }

    private int tid() {
        return (int) (head[Wire.PID >> 3] >>> 32);
    }

    private int cpu() {
        return (int) head[Wire.CPU >> 3];
    }

    private short call() {
        return (short) (head[Wire.CPU >> 3] >>> 32);
    }

    private int comm() {
        return comms.id(head[Wire.COMM >> 3], head[(Wire.COMM >> 3) + 1]);
    }

    private int text(Shape shape, ByteBuffer data, int at) {
        int length = shape.textColumn < 0 ? 0 : data.getInt(at + wire.textLength());
        return length == 0 ? NO_TEXT : texts.idOfMany(EventReader.utf8(data, at + wire.text(), length));
    }

}
