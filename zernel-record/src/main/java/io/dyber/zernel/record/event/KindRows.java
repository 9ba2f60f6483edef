package io.dyber.zernel.record.event;

import java.util.Arrays;

/// The events of one kind in a [Batch], column-wise. A kind fills few of the columns, and nearly always the same ones,
/// so it is stored and copied without a thought for the others.
///
/// Read-only outside its batch. What it says of a column holds once the last row is complete.
public final class KindRows {
    private static final long[] NONE = {};

    private final int kind;
    private final int capacity;
    private final int words;
    private final long[][] values;
    private final long[] any;
    private final long[] all;
    private long[] present = new long[256];
    private int rows;
    private boolean summarised;

    KindRows(int kind, int columns, int capacity) {
        this.kind = kind;
        this.capacity = capacity;
        this.words = (columns + 63) / 64;
        this.values = new long[columns][];
        Arrays.fill(values, NONE);
        this.any = new long[words];
        this.all = new long[words];
    }

    /// The text of the kind, -1 for rows that were added without one.
    public int kind() {
        return kind;
    }

    public int rows() {
        return rows;
    }

    /// Whether any row has a value.
    public boolean has(int column) {
        return (any()[column >> 6] & 1L << column) != 0;
    }

    /// Whether every row has a value.
    public boolean isComplete(int column) {
        long[] _ = any();
        return (all[column >> 6] & 1L << column) != 0;
    }

    public boolean isPresent(int column, int row) {
        return (present[row * words + (column >> 6)] & 1L << column) != 0;
    }

    /// The values of a column that [#has] some, one a row, undefined where NULL.
    public long[] values(int column) {
        return values[column].length < rows ? grown(column) : values[column];
    }

    /// Which columns of the rows have a value: a bit a column, 64 columns a word.
    public long[] present() {
        return present;
    }

    void addRow() {
        int at = rows++ * words;
        if (present.length < at + words) {
            present = Arrays.copyOf(present, Math.min(2 * present.length, capacity * words));
        }
        for (int w = 0; w < words; w++) {
            present[at + w] = 0;
        }
        summarised = false;
    }

    void put(int column, long value) {
        set(column, value);
        present[(rows - 1) * words + (column >> 6)] |= 1L << column;
    }

    /// Sets a column that [#addColumns] says has a value.
    void set(int column, long value) {
        int row = rows - 1;
        long[] target = values[column];
        if (row >= target.length) {
            target = grown(column);
        }
        target[row] = value;
    }

    /// Says that these columns of the last row have a value: a bit a column, 64 columns a word.
    void addColumns(long[] columns) {
        int at = (rows - 1) * words;
        for (int w = 0; w < words; w++) {
            present[at + w] |= columns[w];
        }
    }

    void clear(int column) {
        present[(rows - 1) * words + (column >> 6)] &= ~(1L << column);
    }

    void dropRow() {
        rows--;
        summarised = false;
    }

    void clear() {
        rows = 0;
        summarised = false;
    }

    private long[] grown(int column) {
        values[column] = Arrays.copyOf(values[column], Math.clamp(2L * rows, Math.min(1024, capacity), capacity));
        return values[column];
    }

    private long[] any() {
        if (!summarised) {
            Arrays.fill(any, 0);
            Arrays.fill(all, -1);
            for (int at = 0; at < rows * words; at += words) {
                for (int w = 0; w < words; w++) {
                    any[w] |= present[at + w];
                    all[w] &= present[at + w];
                }
            }
            summarised = true;
        }
        return any;
    }
}
