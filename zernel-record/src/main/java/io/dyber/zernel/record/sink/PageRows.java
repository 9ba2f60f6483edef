package io.dyber.zernel.record.sink;

import java.util.Arrays;

/// The rows of one page of one column, picked from the row group in file order: the values that are not NULL, and one
/// presence bit a row. Reused page after page.
final class PageRows {
    /// Rows in a page; the last page of a row group has fewer.
    static final int CAPACITY = 1 << 17;

    private final long[] values = new long[CAPACITY];
    private final long[] present = new long[CAPACITY / 64];
    private int[] ranks = {};
    private int rows;
    private int count;

    int rows() {
        return rows;
    }

    /// How many rows have a value.
    int count() {
        return count;
    }

    /// The values that are not NULL, valid up to [#count].
    long[] values() {
        return values;
    }

    long[] present() {
        return present;
    }

    /// Prepares for the pages of `column`, whose row group has `rows` rows.
    void open(ColumnValues column, int rows) {
        int words = (rows + 63) / 64;
        if (ranks.length < words) {
            ranks = new int[words];
        }
        int rank = 0;
        for (int w = 0; w < words; w++) {
            ranks[w] = rank;
            rank += Long.bitCount(column.presentWord(w));
        }
    }

    /// Picks the rows `order[from..to)`.
    void pick(ColumnValues column, int groupRows, int[] order, int from, int to) {
        rows = to - from;
        if (column.count() == groupRows) {
            pickAll(column, order, from);
        } else {
            pickPresent(column, order, from);
        }
    }

    private void pickAll(ColumnValues column, int[] order, int from) {
        for (int i = 0; i < rows; i++) {
            values[i] = column.value(order[from + i]);
        }
        Arrays.fill(present, 0, rows / 64, -1L);
        if ((rows & 63) != 0) {
            present[rows / 64] = (1L << rows) - 1;
        }
        count = rows;
    }

    private void pickPresent(ColumnValues column, int[] order, int from) {
        Arrays.fill(present, 0, (rows + 63) / 64, 0);
        count = 0;
        for (int i = 0; i < rows; i++) {
            int row = order[from + i];
            long word = column.presentWord(row >> 6);
            long bit = 1L << row;
            if ((word & bit) != 0) {
                values[count++] = column.value(ranks[row >> 6] + Long.bitCount(word & (bit - 1)));
                present[i >> 6] |= 1L << i;
            }
        }
    }
}
