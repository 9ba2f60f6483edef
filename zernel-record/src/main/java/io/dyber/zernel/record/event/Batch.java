package io.dyber.zernel.record.event;

import io.dyber.zernel.record.schema.Column;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/// A stretch of events: the unit in which events travel from the ring to the file.
///
/// A row starts with every column NULL. VARCHAR values are ids of the recording's [StringDictionary]. Not thread-safe; reused
/// after [#clear]. Nothing is allocated per row.
public final class Batch {
    /// Texts of kinds are among the first of a recording; a kind with a later one does without rows of its own.
    private static final int MOST_KIND_TEXTS = 1 << 12;
    private static final int MOST_KINDS = Byte.MAX_VALUE;

    private final List<Column> columns;
    private final int capacity;
    private final List<KindRows> kinds = new ArrayList<>();
    private final byte[] rowKinds;
    private final int[] places;
    private byte[] numbers = new byte[64];
    private KindRows current;
    private int rows;

    public Batch(List<Column> columns, int capacity) {
        this.columns = List.copyOf(columns);
        this.capacity = capacity;
        this.rowKinds = new byte[capacity];
        this.places = new int[capacity];
        this.current = new KindRows(-1, columns.size(), capacity);
        kinds.add(current);
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

    /// Starts a row; the `put` calls that follow fill it, that of `kind` included. The batch must not be full.
    ///
    /// @param kind the text of the row's kind, -1 for none
    public void addRow(int kind) {
        int number = kind >= 0 && kind < numbers.length ? numbers[kind] : 0;
        startRow(number > 0 ? number : number(kind));
    }

    /// Sets a column of the current row.
    public void put(int column, long value) {
        current.put(column, value);
    }

    /// Says that these columns of the current row have a value, which [#set] is to set: a bit a column, 64 columns a word.
    void addColumns(long[] columns) {
        current.addColumns(columns);
    }

    void set(int column, long value) {
        current.set(column, value);
    }

    /// Makes a column of the current row NULL.
    public void clear(int column) {
        current.clear(column);
    }

    /// Takes back the current row.
    public void dropRow() {
        rows--;
        current.dropRow();
    }

    public boolean isNull(int column, int row) {
        return !kinds.get(rowKinds[row]).isPresent(column, places[row]);
    }

    /// The value of a non-null cell; undefined for a NULL.
    public long value(int column, int row) {
        return kinds.get(rowKinds[row]).values(column)[places[row]];
    }

    /// The same rows by kind, in order of arrival; some may have none.
    public List<KindRows> kinds() {
        return Collections.unmodifiableList(kinds);
    }

    /// For each row its kind, as an index of [#kinds]. Read-only by agreement.
    public byte[] rowKinds() {
        return rowKinds;
    }

    public void clear() {
        for (KindRows kind : kinds) {
            kind.clear();
        }
        rows = 0;
    }

    private void startRow(int kind) {
        current = kinds.get(kind);
        rowKinds[rows] = (byte) kind;
        places[rows] = current.rows();
        current.addRow();
        rows++;
    }

    private int number(int kind) {
        if (kind < 0 || kind >= MOST_KIND_TEXTS || kinds.size() == MOST_KINDS) {
            return 0;
        }
        if (kind >= numbers.length) {
            numbers = Arrays.copyOf(numbers, Math.max(kind + 1, 2 * numbers.length));
        }
        numbers[kind] = (byte) kinds.size();
        kinds.add(new KindRows(kind, columns.size(), capacity));
        return numbers[kind];
    }
}
