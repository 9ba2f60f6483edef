package io.dyber.zernel.record.event;

import io.dyber.zernel.record.event.CallShape.Slot;
import io.dyber.zernel.record.schema.Schema;
import io.dyber.zernel.record.schema.Wire;
import java.nio.ByteBuffer;
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
    private final Row row;
    private final int depthColumn;

    CallReader(Wire wire, Schema schema, StringDictionary texts, ThreadNames comms, Rows rows, long clockOffset, CallCounts counts) {
        this.wire = wire;
        this.schema = schema;
        this.texts = texts;
        this.comms = comms;
        this.rows = rows;
        this.clockOffset = clockOffset;
        this.counts = counts;
        this.row = new Row(rows);
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
        int call = data.getShort(at + Wire.CALL);
        if ((call & Wire.RETURNED) == 0) {
            enter(shape, data, at, function);
        } else if (shape.call.sendsEnter()) {
            leave(shape, data, at, function);
        } else {
            addWhole(shape, data, at, function);
        }
    }

    private void enter(Shape shape, ByteBuffer data, int at, int function) {
        switch (shape.call.role()) {
            case CALL, OPEN, FACT -> push(shape, data, at, function);
            case INSTANT, INSTANT_FACT -> addInstant(shape, data, at, function);
            case CLOSE -> {
                counts.passOver(function);
                close(data, at);
            }
        }
    }

    private void push(Shape shape, ByteBuffer data, int at, int function) {
        int tid = data.getInt(at + Wire.TID);
        OpenCalls open = shape.threads().of(tid);
        if (open.isFull()) {
            addUnreturned(open.frames(), 0);
            open.drop(0);
        }
        long sp = data.getLong(at + Wire.STACK_POINTER);
        abandon(open, open.find(function, sp));
        if (shape.call.layer() != Layer.NONE) {
            coverAround(open, sp, shape.kindText);
        }
        int depth = shape.nests ? open.around(sp, shape.kindText) : 0;
        int frame = open.push();
        fill(open.frames(), frame, shape, data, at, function, sp, depth);
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
        for (OpenThreads all : List.of(threads, vitalThreads)) {
            all.forEach(open -> {
                for (int i = open.depth() - 1; i >= 0; i--) {
                    int frame = i * OpenCalls.FRAME;
                    if (functions.contains((int) open.frames()[frame + OpenCalls.FUNCTION])) {
                        if (open.frames()[frame + OpenCalls.COVERED] == 0) {
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
        frames[frame + OpenCalls.START] = data.getLong(at + Wire.START);
        frames[frame + OpenCalls.PID] = data.getInt(at + Wire.PID);
        frames[frame + OpenCalls.TID] = data.getInt(at + Wire.TID);
        frames[frame + OpenCalls.CPU] = data.getInt(at + Wire.CPU);
        frames[frame + OpenCalls.COMM] = comm(data, at);
        frames[frame + OpenCalls.TEXT] = text(shape, data, at);
        frames[frame + OpenCalls.KIND] = shape.kindText;
        frames[frame + OpenCalls.DEPTH] = depth;
        frames[frame + OpenCalls.BAD] = data.getShort(at + Wire.CALL);
        for (int i = 0; i < shape.enterColumns.length; i++) {
            frames[frame + OpenCalls.SLOTS + i] = slot(data, at + wire.slot(), i);
        }
        frames[frame + OpenCalls.COVERED] = 0;
        // The calls that are covered by this one look for it here, whether they have a column for it or not.
        frames[frame + OpenCalls.SLOTS] = slot(data, at + wire.slot(), 0);
        frames[frame + OpenCalls.NOTE] =
                shape.call.interpretation().entered((int) frames[frame + OpenCalls.PID], slot(data, at + wire.slot(), 0));
    }

    private void leave(Shape shape, ByteBuffer data, int at, int function) {
        counts.readReturn(function);
        OpenCalls open = shape.threads().find(data.getInt(at + Wire.TID));
        int found = open == null ? -1 : open.find(function, data.getLong(at + Wire.STACK_POINTER));
        if (open == null || found < 0) {
            counts.unmatchedReturns++;
            return;
        }
        abandon(open, found + 1);
        int frame = found * OpenCalls.FRAME;
        if (shape.call.role() == CallShape.Role.OPEN) {
            openSpan(shape, data, at, open.frames(), frame);
        } else {
            addReturned(shape, data, at, open.frames(), frame);
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

    private void addReturned(Shape shape, ByteBuffer data, int at, long[] frames, int frame) {
        addEntered(shape, frames, frame);
        long end = data.getLong(at + Wire.TIME);
        rows.put(rows.duration, end - frames[frame + OpenCalls.START]);
        rows.set(rows.cpu, data.getInt(at + Wire.CPU));
        putSlots(shape.returnColumns, shape.returnSlots, data, at, wire.returnSlot());
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

    private void addWhole(Shape shape, ByteBuffer data, int at, int function) {
        long start = data.getLong(at + Wire.START);
        if (!births.isEmpty() && start < births.getOrDefault(data.getInt(at + Wire.TID), Long.MIN_VALUE)) {
            counts.returnTwice(function);
            return;
        }
        addHead(shape, data, at, function, NO_TEXT, start);
        rows.put(rows.duration, data.getLong(at + Wire.END) - start);
        putSlots(shape.returnColumns, shape.returnSlots, data, at, wire.slot());
        complete(shape, 0);
    }

    private void addInstant(Shape shape, ByteBuffer data, int at, int function) {
        long note = shape.call.interpretation().entered(data.getInt(at + Wire.PID), slot(data, at + wire.slot(), 0));
        addHead(shape, data, at, function, text(shape, data, at), data.getLong(at + Wire.START));
        putSlots(shape.enterColumns, shape.enterSlots, data, at, wire.slot());
        complete(shape, note);
    }

    private void addHead(Shape shape, ByteBuffer data, int at, int function, int text, long start) {
        counts.event(function);
        rows.add(shape.kindText, shape.present);
        putName(shape, text);
        rows.set(rows.start, start + clockOffset);
        rows.set(rows.pid, data.getInt(at + Wire.PID));
        rows.set(rows.tid, data.getInt(at + Wire.TID));
        rows.set(rows.cpu, data.getInt(at + Wire.CPU));
        rows.set(rows.comm, comm(data, at));
        putConstants(shape);
    }

    private void putName(Shape shape, int text) {
        boolean named = text != NO_TEXT && shape.textColumn == rows.name;
        rows.set(rows.name, named ? text : shape.nameText);
        if (text != NO_TEXT && shape.textColumn >= 0 && !named) {
            rows.put(shape.textColumn, text);
        }
    }

    private void putSlots(int[] columns, Slot[] slots, ByteBuffer data, int at, int first) {
        int bad = data.getShort(at + Wire.CALL);
        for (int i = 0; i < columns.length; i++) {
            if (columns[i] >= 0 && (bad & (1 << i)) == 0) {
                rows.put(columns[i], value(slots[i], slot(data, at + first, i)));
            }
        }
    }

    private void openSpan(Shape shape, ByteBuffer data, int at, long[] frames, int frame) {
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
        OpenSpan forgotten = spans.put(new Handle(pid, slot(data, at + wire.returnSlot(), 0)), span);
        if (forgotten != null) {
            giveUp(forgotten);
        }
    }

    private void giveUp(OpenSpan span) {
        addSpan(span);
        counts.unreturned(span.function);
    }

    private void close(ByteBuffer data, int at) {
        int pid = data.getInt(at + Wire.PID);
        OpenSpan span = spans.remove(new Handle(pid, slot(data, at + wire.slot(), 0)));
        if (span == null) {
            counts.unmatchedReturns++;
            return;
        }
        addSpan(span);
        rows.put(rows.duration, data.getLong(at + Wire.START) - span.start);
        rows.put(rows.cpu, data.getInt(at + Wire.CPU));
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

    private int comm(ByteBuffer data, int at) {
        return comms.id(
                data.getLong(at + Wire.COMM), data.getLong(at + Wire.COMM + 8));
    }

    private int text(Shape shape, ByteBuffer data, int at) {
        int length = shape.textColumn < 0 ? 0 : data.getInt(at + wire.textLength());
        return length == 0 ? NO_TEXT : texts.idOfMany(EventReader.utf8(data, at + wire.text(), length));
    }

    private static long slot(ByteBuffer data, int first, int index) {
        return data.getLong(first + 8 * index);
    }
}
