package io.dyber.zernel.record.parquet;

import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.KindRows;
import io.dyber.zernel.record.schema.Column;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The events of one segment, or of one of its row groups, on their way to Parquet. A segment's is filled by one thread, then
/// handed to the encoder, then cleared and reused.
///
/// Kept by kind, as a [Batch] is: a column that a kind does not have costs its rows nothing.
public final class RowGroup {
    /// With fewer events a kind does not pay for a row group of its own, whose columns cost 10 kB whatever they hold.
    static final int MANY = 1 << 15;

    private final List<Column> columns;
    private final List<KindColumns> kinds = new ArrayList<>();
    private int[] kindTexts = {};
    private final byte[] numbers = new byte[Byte.MAX_VALUE];
    private byte[] rowKinds = new byte[1 << 15];
    private int rows;

    public RowGroup(List<Column> columns) {
        this.columns = columns;
    }

    public List<Column> columns() {
        return columns;
    }

    public int rows() {
        return rows;
    }

    List<KindColumns> kinds() {
        return kinds;
    }

    /// For each row, in order of arrival, its kind as an index of [#kinds]; valid up to [#rows].
    byte[] rowKinds() {
        return rowKinds;
    }

    /// The same events in several row groups, to be read while this one does not change: one for each kind that has
    /// many, which readers of other kinds then need not decode, and one for all others.
    List<RowGroup> divided() {
        List<RowGroup> parts = new ArrayList<>();
        boolean[] alone = new boolean[kinds.size()];
        for (int k = 0; k < alone.length; k++) {
            alone[k] = kinds.get(k).rows() >= MANY;
            if (alone[k]) {
                parts.add(only(kinds.get(k)));
            }
        }
        if (parts.isEmpty()) {
            return List.of(this);
        }
        RowGroup others = new RowGroup(columns);
        others.takeOthers(this, alone);
        if (others.rows > 0) {
            parts.add(others);
        }
        return parts;
    }

    private RowGroup only(KindColumns kind) {
        RowGroup part = new RowGroup(columns);
        part.kinds.add(kind);
        part.rows = kind.rows();
        part.rowKinds = new byte[part.rows];
        return part;
    }

    /// Takes in the events of `all` but those of the kinds in `left`.
    private void takeOthers(RowGroup all, boolean[] left) {
        byte[] numberOf = new byte[left.length];
        for (int k = 0; k < left.length; k++) {
            if (!left[k]) {
                numberOf[k] = (byte) kinds.size();
                kinds.add(all.kinds.get(k));
            }
        }
        rowKinds = new byte[kinds.stream().mapToInt(KindColumns::rows).sum()];
        for (int row = 0; row < all.rows; row++) {
            if (!left[all.rowKinds[row]]) {
                rowKinds[rows++] = numberOf[all.rowKinds[row]];
            }
        }
    }

    public void append(Batch batch) {
        List<KindRows> added = batch.kinds();
        for (int k = 0; k < added.size(); k++) {
            if (added.get(k).rows() > 0) {
                numbers[k] = (byte) number(added.get(k).kind());
                kinds.get(numbers[k]).append(added.get(k));
            }
        }
        if (rowKinds.length < rows + batch.rows()) {
            rowKinds = Arrays.copyOf(rowKinds, Math.max(2 * rowKinds.length, rows + batch.rows()));
        }
        byte[] from = batch.rowKinds();
        for (int row = 0; row < batch.rows(); row++) {
            rowKinds[rows + row] = numbers[from[row]];
        }
        rows += batch.rows();
    }

    public void clear() {
        kinds.forEach(KindColumns::clear);
        rows = 0;
    }

    /// The position of a column, or -1.
    int column(String name) {
        for (int c = 0; c < columns.size(); c++) {
            if (columns.get(c).name().equals(name)) {
                return c;
            }
        }
        return -1;
    }

    /// Batches of different readers may number the same kinds differently.
    private int number(int kindText) {
        for (int k = 0; k < kindTexts.length; k++) {
            if (kindTexts[k] == kindText) {
                return k;
            }
        }
        kindTexts = Arrays.copyOf(kindTexts, kindTexts.length + 1);
        kindTexts[kindTexts.length - 1] = kindText;
        kinds.add(new KindColumns(columns));
        return kindTexts.length - 1;
    }
}
