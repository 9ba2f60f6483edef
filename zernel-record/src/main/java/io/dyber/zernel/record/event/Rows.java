package io.dyber.zernel.record.event;

import io.dyber.zernel.record.schema.Schema;
import java.util.function.Consumer;

/// Where decoded rows go: the current batch, handed on when it is full.
///
/// Not thread-safe; one thread decodes.
final class Rows {
    final int kind;
    final int name;
    final int start;
    final int duration;
    final int pid;
    final int tid;
    final int cpu;
    final int comm;

    private final Batch batch;
    private final Consumer<Batch> full;
    private boolean leftOut;

    Rows(Schema schema, Batch batch, Consumer<Batch> full) {
        this.batch = batch;
        this.full = full;
        this.kind = schema.index("kind");
        this.name = schema.index("name");
        this.start = schema.index("ts_ns");
        this.duration = schema.index("dur_ns");
        this.pid = schema.index("pid");
        this.tid = schema.index("tid");
        this.cpu = schema.index("cpu");
        this.comm = schema.index("comm");
    }

    void add(int kindText) {
        if (batch.isFull()) {
            flush();
        }
        batch.addRow(kindText);
        leftOut = false;
        batch.put(kind, kindText);
    }

    /// Starts a row of which these columns have a value, each to be given by [#set].
    ///
    /// @param present of [#columns]
    void add(int kindText, long[] present) {
        add(kindText);
        batch.addColumns(present);
    }

    /// Several columns, as [#add] takes them.
    long[] columns(int... numbers) {
        long[] bits = new long[(batch.columns().size() + 63) / 64];
        for (int number : numbers) {
            bits[number >> 6] |= 1L << number;
        }
        return bits;
    }

    void set(int column, long value) {
        batch.set(column, value);
    }

    void put(int column, long value) {
        batch.put(column, value);
    }

    long get(int column) {
        int row = batch.rows() - 1;
        return batch.isNull(column, row) ? Row.NONE : batch.value(column, row);
    }

    void clear(int column) {
        batch.clear(column);
    }

    /// Marks the current row as one to be taken back.
    void leaveOut() {
        leftOut = true;
    }

    boolean isLeftOut() {
        return leftOut;
    }

    /// Takes back the current row.
    void drop() {
        batch.dropRow();
    }

    void flush() {
        if (batch.rows() > 0) {
            full.accept(batch);
            batch.clear();
        }
    }
}
