package io.dyber.zernel.record.parquet;

/// Where the rows of a row group go in its file. Reused row group after row group.
///
/// It is asked where a row goes and not where one comes from: reading each kind's rows as they arrived and writing each
/// thread's stretch of the file keeps to a few cache lines, the other way round every value is a cache miss.
final class RowPermutation {
    private int[] fileRows = {};
    private int[] ranks = {};
    private int[] rankOfRow = {};
    private byte[] kinds = {};
    private int[] bases = {};
    private int[][] pageStarts = {};
    private int rows;

    /// Takes in the order.
    ///
    /// @param arrivals the rows' numbers in order of arrival, in file order
    void set(RowGroup group, long[] arrivals) {
        rows = group.rows();
        if (fileRows.length < rows) {
            fileRows = new int[rows];
            ranks = new int[rows];
            rankOfRow = new int[rows];
            kinds = new byte[rows];
        }
        byte[] rowKinds = group.rowKinds();
        for (int row = 0; row < rows; row++) {
            int arrival = (int) arrivals[row];
            fileRows[arrival] = row;
            kinds[row] = rowKinds[arrival];
        }
        rank(group);
    }

    int rows() {
        return rows;
    }

    /// Each row's kind in file order, as an index of [RowGroup#kinds].
    byte[] kinds() {
        return kinds;
    }

    /// The rows' places in the file, in order of arrival.
    int[] fileRows() {
        return fileRows;
    }

    /// The places of each kind's rows among all of their kind in the file, in order of arrival, those of a kind from its
    /// [#base] on.
    int[] ranks() {
        return ranks;
    }

    int base(int kind) {
        return bases[kind];
    }

    /// How many rows of a kind come before a page.
    int pageStart(int kind, int page) {
        return pageStarts[kind][page];
    }

    private void rank(RowGroup group) {
        int kindCount = group.kinds().size();
        int pages = (rows + ColumnReorderer.CAPACITY - 1) / ColumnReorderer.CAPACITY;
        pageStarts = new int[kindCount][pages + 1];
        int[] next = new int[kindCount];
        for (int page = 0; page < pages; page++) {
            int end = Math.min(rows, (page + 1) * ColumnReorderer.CAPACITY);
            for (int row = page * ColumnReorderer.CAPACITY; row < end; row++) {
                rankOfRow[row] = next[kinds[row]]++;
            }
            for (int k = 0; k < kindCount; k++) {
                pageStarts[k][page + 1] = next[k];
            }
        }
        bases = new int[kindCount];
        for (int k = 1; k < kindCount; k++) {
            bases[k] = bases[k - 1] + next[k - 1];
        }
        next = bases.clone();
        byte[] rowKinds = group.rowKinds();
        for (int arrival = 0; arrival < rows; arrival++) {
            ranks[next[rowKinds[arrival]]++] = rankOfRow[fileRows[arrival]];
        }
    }
}
