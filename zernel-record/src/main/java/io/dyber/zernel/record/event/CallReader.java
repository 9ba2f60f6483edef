package io.dyber.zernel.record.event;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.dyber.zernel.record.event.CallShape.Slot;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Joins the ENTER and RETURN records of probed functions into rows (`bpf/functions.bpf.c`).
///
/// Every call that was entered becomes exactly one row: when it returns, or with a NULL duration when it is known
/// that it did not (longjmp, thread exit, end of the recording). Not thread-safe.
final class CallReader {
    private static final int PHASE_ENTER = 1;
    private static final int NO_TEXT = -1;

    /// Identity of an open span: handles are addresses, so they are unique in a process only.
    private record Handle(int pid, long address) {}

    private record OpenSpan(int function, long start, int pid, int tid, int cpu, int comm, int text) {}

    private final Wire wire;
    private final Schema schema;
    private final Texts texts;
    private final Comms comms;
    private final Rows rows;
    private final long clockOffset;
    private final Map<Integer, Shape> shapes = new HashMap<>();
    private final Map<Integer, OpenCalls> threads = new HashMap<>();
    private final Map<Handle, OpenSpan> spans = new HashMap<>();
    private final Map<Integer, Long> births = new HashMap<>();
    private final CallCounts counts;

    CallReader(Wire wire, Schema schema, Texts texts, Comms comms, Rows rows, long clockOffset, CallCounts counts) {
        this.wire = wire;
        this.schema = schema;
        this.texts = texts;
        this.comms = comms;
        this.rows = rows;
        this.clockOffset = clockOffset;
        this.counts = counts;
    }

    /// A shape with its columns and texts looked up.
    private final class Shape {
        final CallShape call;
        final int kindText;
        final int nameText;
        final int[] enterColumns;
        final int[] returnColumns;
        final int textColumn;

        Shape(CallShape call) {
            this.call = call;
            this.kindText = texts.id(call.kind());
            this.nameText = texts.id(call.name());
            this.enterColumns = columns(call.onEnter());
            this.returnColumns = columns(call.onReturn());
            this.textColumn = call.textColumn().isEmpty() ? -1 : schema.index(call.textColumn());
        }
    }

    void define(int function, CallShape call) {
        shapes.put(function, new Shape(call));
    }

    private int[] columns(List<Slot> slots) {
        return slots.stream()
                .mapToInt(slot -> slot.column().isEmpty() ? -1 : schema.index(slot.column()))
                .toArray();
    }

    /// A thread or process was created at this CLOCK_MONOTONIC time. A forked child also returns from the calls its
    /// parent had open; those are the parent's and are dropped.
    void born(int tid, long time) {
        births.put(tid, time);
        threads.remove(tid);
    }

    void read(MemorySegment data, long at, int function) {
        Shape shape = shapes.get(function);
        if (shape == null) {
            counts.unknown++;
            return;
        }
        if (data.get(JAVA_SHORT_UNALIGNED, at + wire.phase()) == PHASE_ENTER) {
            enter(shape, data, at, function);
        } else {
            leave(shape, data, at, function);
        }
    }

    private void enter(Shape shape, MemorySegment data, long at, int function) {
        switch (shape.call.role()) {
            case CALL, OPEN -> push(shape, data, at, function);
            case INSTANT -> addInstant(shape, data, at, function);
            case CLOSE -> close(data, at);
        }
    }

    private void push(Shape shape, MemorySegment data, long at, int function) {
        int tid = data.get(JAVA_INT_UNALIGNED, at + Wire.TID);
        OpenCalls open = threads.computeIfAbsent(tid, _ -> new OpenCalls());
        if (open.isFull()) {
            addUnreturned(open.frames(), 0);
            open.dropOldest();
        }
        long sp = data.get(JAVA_LONG_UNALIGNED, at + wire.sp());
        abandon(open, open.find(function, sp));
        int frame = open.push();
        fill(open.frames(), frame, shape, data, at, function, sp);
    }

    private void fill(long[] frames, int frame, Shape shape, MemorySegment data, long at, int function, long sp) {
        frames[frame + OpenCalls.SP] = sp;
        frames[frame + OpenCalls.FUNCTION] = function;
        frames[frame + OpenCalls.START] = data.get(JAVA_LONG_UNALIGNED, at + Wire.START);
        frames[frame + OpenCalls.PID] = data.get(JAVA_INT_UNALIGNED, at + Wire.PID);
        frames[frame + OpenCalls.TID] = data.get(JAVA_INT_UNALIGNED, at + Wire.TID);
        frames[frame + OpenCalls.CPU] = data.get(JAVA_INT_UNALIGNED, at + Wire.CPU);
        frames[frame + OpenCalls.COMM] = comm(data, at);
        frames[frame + OpenCalls.TEXT] = text(data, at);
        frames[frame + OpenCalls.BAD] = data.get(JAVA_SHORT_UNALIGNED, at + wire.bad());
        for (int i = 0; i < shape.enterColumns.length; i++) {
            frames[frame + OpenCalls.SLOTS + i] = slot(data, at, i);
        }
    }

    private void leave(Shape shape, MemorySegment data, long at, int function) {
        if (!shape.call.sendsEnter()) {
            addFromReturn(shape, data, at, function);
            return;
        }
        OpenCalls open = threads.get(data.get(JAVA_INT_UNALIGNED, at + Wire.TID));
        int found = open == null ? -1 : open.find(function, data.get(JAVA_LONG_UNALIGNED, at + wire.sp()));
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

    private void addReturned(Shape shape, MemorySegment data, long at, long[] frames, int frame) {
        addEntered(shape, frames, frame);
        long end = data.get(JAVA_LONG_UNALIGNED, at + Wire.DURATION);
        rows.put(rows.duration, end - frames[frame + OpenCalls.START]);
        rows.put(rows.cpu, data.get(JAVA_INT_UNALIGNED, at + Wire.CPU));
        putReturnSlots(shape, data, at);
    }

    private void addUnreturned(long[] frames, int frame) {
        int function = (int) frames[frame + OpenCalls.FUNCTION];
        Shape shape = shapes.get(function);
        if (shape != null && shape.call.role() == CallShape.Role.CALL) {
            addEntered(shape, frames, frame);
            counts.unreturned(function);
        }
    }

    private void addEntered(Shape shape, long[] frames, int frame) {
        counts.event((int) frames[frame + OpenCalls.FUNCTION]);
        rows.add(shape.kindText);
        int text = (int) frames[frame + OpenCalls.TEXT];
        putName(shape, text);
        rows.put(rows.start, frames[frame + OpenCalls.START] + clockOffset);
        rows.put(rows.pid, frames[frame + OpenCalls.PID]);
        rows.put(rows.tid, frames[frame + OpenCalls.TID]);
        rows.put(rows.cpu, frames[frame + OpenCalls.CPU]);
        rows.put(rows.comm, frames[frame + OpenCalls.COMM]);
        for (int i = 0; i < shape.enterColumns.length; i++) {
            if (shape.enterColumns[i] >= 0 && (frames[frame + OpenCalls.BAD] & (1L << i)) == 0) {
                long raw = frames[frame + OpenCalls.SLOTS + i];
                rows.put(shape.enterColumns[i], shape.call.onEnter().get(i).value(raw));
            }
        }
    }

    private void addFromReturn(Shape shape, MemorySegment data, long at, int function) {
        long start = data.get(JAVA_LONG_UNALIGNED, at + Wire.START);
        if (start < births.getOrDefault(data.get(JAVA_INT_UNALIGNED, at + Wire.TID), Long.MIN_VALUE)) {
            counts.unmatchedReturns++;
            return;
        }
        addHead(shape, data, at, function, NO_TEXT, start);
        rows.put(rows.duration, data.get(JAVA_LONG_UNALIGNED, at + Wire.DURATION) - start);
        putReturnSlots(shape, data, at);
    }

    private void addInstant(Shape shape, MemorySegment data, long at, int function) {
        addHead(shape, data, at, function, text(data, at), data.get(JAVA_LONG_UNALIGNED, at + Wire.START));
        putSlots(shape.enterColumns, shape.call.onEnter(), data, at);
    }

    private void addHead(Shape shape, MemorySegment data, long at, int function, int text, long start) {
        counts.event(function);
        rows.add(shape.kindText);
        putName(shape, text);
        rows.put(rows.start, start + clockOffset);
        rows.put(rows.pid, data.get(JAVA_INT_UNALIGNED, at + Wire.PID));
        rows.put(rows.tid, data.get(JAVA_INT_UNALIGNED, at + Wire.TID));
        rows.put(rows.cpu, data.get(JAVA_INT_UNALIGNED, at + Wire.CPU));
        rows.put(rows.comm, comm(data, at));
    }

    private void putName(Shape shape, int text) {
        boolean named = text != NO_TEXT && shape.textColumn == rows.name;
        rows.put(rows.name, named ? text : shape.nameText);
        if (text != NO_TEXT && shape.textColumn >= 0 && !named) {
            rows.put(shape.textColumn, text);
        }
    }

    private void putReturnSlots(Shape shape, MemorySegment data, long at) {
        putSlots(shape.returnColumns, shape.call.onReturn(), data, at);
    }

    private void putSlots(int[] columns, List<Slot> slots, MemorySegment data, long at) {
        int bad = data.get(JAVA_SHORT_UNALIGNED, at + wire.bad());
        for (int i = 0; i < columns.length; i++) {
            if (columns[i] >= 0 && (bad & (1 << i)) == 0) {
                rows.put(columns[i], slots.get(i).value(slot(data, at, i)));
            }
        }
    }

    private void openSpan(Shape shape, MemorySegment data, long at, long[] frames, int frame) {
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
        OpenSpan forgotten = spans.put(new Handle(pid, slot(data, at, 0)), span);
        if (forgotten != null) {
            addSpan(forgotten);
            counts.unreturned(forgotten.function);
        }
    }

    private void close(MemorySegment data, long at) {
        int pid = data.get(JAVA_INT_UNALIGNED, at + Wire.PID);
        OpenSpan span = spans.remove(new Handle(pid, slot(data, at, 0)));
        if (span == null) {
            counts.unmatchedReturns++;
            return;
        }
        addSpan(span);
        rows.put(rows.duration, data.get(JAVA_LONG_UNALIGNED, at + Wire.START) - span.start);
        rows.put(rows.cpu, data.get(JAVA_INT_UNALIGNED, at + Wire.CPU));
    }

    private void addSpan(OpenSpan span) {
        counts.event(span.function);
        Shape shape = shapes.get(span.function);
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
        for (OpenCalls open : threads.values()) {
            abandon(open, 0);
        }
        threads.clear();
        for (OpenSpan span : spans.values()) {
            addSpan(span);
            counts.unreturned(span.function);
        }
        spans.clear();
    }

    private int comm(MemorySegment data, long at) {
        return comms.id(
                data.get(JAVA_LONG_UNALIGNED, at + Wire.COMM), data.get(JAVA_LONG_UNALIGNED, at + Wire.COMM + 8));
    }

    private int text(MemorySegment data, long at) {
        int length = data.get(JAVA_INT_UNALIGNED, at + wire.textLength());
        return length == 0 ? NO_TEXT : texts.id(EventReader.utf8(data, at + wire.text(), length));
    }

    private long slot(MemorySegment data, long at, int index) {
        return data.get(JAVA_LONG_UNALIGNED, at + wire.slot() + 8L * index);
    }
}
