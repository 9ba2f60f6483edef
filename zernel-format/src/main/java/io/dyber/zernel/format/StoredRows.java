package io.dyber.zernel.format;

import java.nio.ByteBuffer;

/// The rows of a plain journal batch from the first to the last that has a value in a column. Only these are stored and
/// checksummed: what is outside them is zero, and often a hole of the file.
///
/// @param width bytes of a value
record StoredRows(int firstRow, int endRow, int width, int rows) {
    /// Of a column in which some rows have a value.
    ///
    /// @param validity Arrow's: one bit a row, at least one of them set
    static StoredRows of(ByteBuffer validity, int rows, int width) {
        int first = 0;
        while (!isSet(validity, first)) {
            first = validity.get(first >> 3) == 0 ? (first | 7) + 1 : first + 1;
        }
        int end = rows;
        while (!isSet(validity, end - 1)) {
            end = validity.get((end - 1) >> 3) == 0 ? (end - 1) & ~7 : end - 1;
        }
        return new StoredRows(first, end, width, rows);
    }

    /// Where the stored bytes of the column's buffer begin: on a word.
    int from() {
        return firstRow * width & ~7;
    }

    /// Where they end: on a word, as buffers do.
    int to() {
        return JournalChecksum.padded(endRow * width);
    }

    private static boolean isSet(ByteBuffer validity, int row) {
        return (validity.get(row >> 3) & 1 << (row & 7)) != 0;
    }
}
