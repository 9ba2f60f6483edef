package io.dyber.zernel.record.event;

import java.util.Arrays;
import java.util.List;

/// A stretch of events, column-wise: the unit in which events travel from the ring to the file.
///
/// A row starts with every column NULL. VARCHAR values are ids of the recording's [Texts]. Not thread-safe; reused
/// after [#clear]. Nothing is allocated per row.
public final class Batch {
    private final List<Column> columns;
    private final int capacity;
    private final long[][] values;
    private final long[][] present;
    private int rows;

    public Batch(List<Column> columns, int capacity) {
        this.columns = List.copyOf(columns);
        this.capacity = capacity;
        this.values = new long[columns.size()][capacity];
        this.present = new long[columns.size()][(capacity + 63) / 64];
    }

    public List<Column> columns() {
        return columns;
    }

    public int rows() {
        return rows;
    }

    public boolean isFull() {
        return rows == capacity;
    }

    /// Starts a row; the `put` calls that follow fill it. The batch must not be full.
    public void addRow() {
        rows++;
    }

    /// Sets a column of the current row.
    public void put(int column, long value) {
        int row = rows - 1;
        values[column][row] = value;
        present[column][row >> 6] |= 1L << row;
    }

    /// Makes a column of the current row NULL.
    public void clear(int column) {
        int row = rows - 1;
        present[column][row >> 6] &= ~(1L << row);
    }

    /// Takes back the current row.
    public void dropRow() {
        rows--;
        for (long[] bits : present) {
            bits[rows >> 6] &= ~(1L << rows);
        }
    }

    public boolean isNull(int column, int row) {
        return (present[column][row >> 6] & 1L << row) == 0;
    }

    /// The value of a non-null cell; undefined for a NULL.
    public long value(int column, int row) {
        return values[column][row];
    }

    /// The values of a column, rows `0` to `rows() - 1`, undefined where NULL. Read-only by agreement.
    public long[] values(int column) {
        return values[column];
    }

    /// One bit per row, set where the column has a value, 64 rows a word. Read-only by agreement.
    public long[] present(int column) {
        return present[column];
    }

    public void clear() {
        int words = (rows + 63) / 64;
        for (long[] bits : present) {
            Arrays.fill(bits, 0, words, 0);
        }
        rows = 0;
    }
}
