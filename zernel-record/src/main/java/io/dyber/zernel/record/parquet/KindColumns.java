package io.dyber.zernel.record.parquet;

import io.dyber.zernel.record.event.KindRows;
import io.dyber.zernel.record.schema.Column;
import io.dyber.zernel.record.schema.ColumnType;
import java.util.Arrays;
import java.util.List;

/// The events of one kind in a row group, column-wise and in order of arrival.
///
/// Values lie in chunks of [#CHUNK], so that filling copies nothing again and a kind takes little more than its rows. A column
/// in which all values are the same takes nothing.
final class KindColumns {
    static final int CHUNK_BITS = 14;
    static final int CHUNK = 1 << CHUNK_BITS;
    static final int IN_CHUNK = CHUNK - 1;

    private final boolean[] narrow;
    private final long[][][] longs;
    private final int[][][] ints;
    private final int words;
    private final long[] any;
    private final long[] all;
    private final long[] first;
    private final boolean[] varies;
    private final boolean[] stored;
    private long[][] present = {};
    private int rows;

    KindColumns(List<Column> columns) {
        this.narrow = new boolean[columns.size()];
        this.longs = new long[columns.size()][0][];
        this.ints = new int[columns.size()][0][];
        for (int c = 0; c < narrow.length; c++) {
            narrow[c] = columns.get(c).type() == ColumnType.VARCHAR;
        }
        this.words = (narrow.length + 63) / 64;
        this.first = new long[narrow.length];
        this.varies = new boolean[narrow.length];
        this.stored = new boolean[narrow.length];
        this.any = new long[words];
        this.all = new long[words];
    }

    int rows() {
        return rows;
    }

    /// Whether any row has a value.
    boolean has(int column) {
        return (any[column >> 6] & 1L << column) != 0;
    }

    /// Whether every row has a value.
    boolean isComplete(int column) {
        return (all[column >> 6] & 1L << column) != 0;
    }

    /// Whether every row has the same value, [#constant].
    boolean isConstant(int column) {
        return isComplete(column) && !varies[column];
    }

    long constant(int column) {
        return first[column];
    }

    boolean isPresent(int column, int row) {
        return (present[row >> CHUNK_BITS][(row & IN_CHUNK) * words + (column >> 6)] & 1L << column) != 0;
    }

    /// Whether the values are dictionary ids, which fit 31 bits: [#ints] then, else [#longs].
    boolean isNarrow(int column) {
        return narrow[column];
    }

    /// The values by chunk, up to the last chunk that has one; where none is present there is no value to read.
    long[][] longs(int column) {
        store(column);
        return longs[column];
    }

    /// As [#longs].
    int[][] ints(int column) {
        store(column);
        return ints[column];
    }

    void append(KindRows added) {
        if (rows == 0) {
            Arrays.fill(all, -1);
        }
        for (int c = 0; c < narrow.length; c++) {
            if (!added.has(c)) {
                all[c >> 6] &= ~(1L << c);
                continue;
            }
            if (!has(c)) {
                first[c] = added.values(c)[0];
                varies[c] = false;
            }
            any[c >> 6] |= 1L << c;
            if (!added.isComplete(c)) {
                all[c >> 6] &= ~(1L << c);
            }
            if (!varies[c] && varies(added.values(c), added.rows(), first[c])) {
                varies[c] = true;
                store(c);
            }
            if (stored[c]) {
                reserve(c, rows + added.rows());
                copy(added.values(c), added.rows(), c);
            }
        }
        copyPresent(added);
        rows += added.rows();
    }

    /// Forgets the rows. Keeps the memory that the last filling needed for the next one.
    void clear() {
        int used = (rows + CHUNK - 1) / CHUNK;
        for (int c = 0; c < narrow.length; c++) {
            longs[c] = stored[c] ? shrunk(longs[c], used) : new long[0][];
            ints[c] = stored[c] ? shrunk(ints[c], used) : new int[0][];
            stored[c] = false;
        }
        present = shrunk(present, used);
        Arrays.fill(any, 0);
        rows = 0;
    }

    private static <T> T[] shrunk(T[] chunks, int used) {
        return chunks.length > used ? Arrays.copyOf(chunks, used) : chunks;
    }

    /// Stores a value for each row, which is not done while all have the same.
    private void store(int column) {
        if (stored[column] || !has(column)) {
            return;
        }
        stored[column] = true;
        reserve(column, rows);
        for (int chunk = 0; chunk * CHUNK < rows; chunk++) {
            if (narrow[column]) {
                Arrays.fill(ints[column][chunk], (int) first[column]);
            } else {
                Arrays.fill(longs[column][chunk], first[column]);
            }
        }
    }

    private void reserve(int column, int values) {
        int chunks = (values + CHUNK - 1) / CHUNK;
        if (narrow[column]) {
            int have = ints[column].length;
            ints[column] = have < chunks ? Arrays.copyOf(ints[column], chunks) : ints[column];
            for (int c = have; c < chunks; c++) {
                ints[column][c] = new int[CHUNK];
            }
        } else {
            int have = longs[column].length;
            longs[column] = have < chunks ? Arrays.copyOf(longs[column], chunks) : longs[column];
            for (int c = have; c < chunks; c++) {
                longs[column][c] = new long[CHUNK];
            }
        }
    }

    private void copy(long[] values, int count, int column) {
        int from = 0;
        while (from < count) {
            int at = (rows + from) & IN_CHUNK;
            int chunk = (rows + from) >> CHUNK_BITS;
            int length = Math.min(count - from, CHUNK - at);
            if (narrow[column]) {
                narrow(values, from, ints[column][chunk], at, length);
            } else {
                System.arraycopy(values, from, longs[column][chunk], at, length);
            }
            from += length;
        }
    }

    private static void narrow(long[] values, int from, int[] target, int at, int length) {
        for (int i = 0; i < length; i++) {
            target[at + i] = (int) values[from + i];
        }
    }

    private static boolean varies(long[] values, int count, long first) {
        for (int i = 0; i < count; i++) {
            if (values[i] != first) {
                return true;
            }
        }
        return false;
    }

    private void copyPresent(KindRows added) {
        int have = present.length;
        int chunks = (rows + added.rows() + CHUNK - 1) / CHUNK;
        present = have < chunks ? Arrays.copyOf(present, chunks) : present;
        for (int c = have; c < chunks; c++) {
            present[c] = new long[CHUNK * words];
        }
        int from = 0;
        while (from < added.rows()) {
            int at = (rows + from) & IN_CHUNK;
            int length = Math.min(added.rows() - from, CHUNK - at);
            System.arraycopy(
                    added.present(), from * words, present[(rows + from) >> CHUNK_BITS], at * words, length * words);
            from += length;
        }
    }
}
