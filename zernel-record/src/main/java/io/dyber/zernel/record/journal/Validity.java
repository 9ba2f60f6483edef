package io.dyber.zernel.record.journal;

import io.dyber.zernel.record.event.Batch;
import io.dyber.zernel.record.event.KindRows;
import java.util.Arrays;

/// Which rows of a batch have a value in one column, the rows taken kind by kind. Reused column after column.
final class Validity {
    private long[] bits = {};
    private int words;
    private int count;

    /// One bit a row, 64 rows a word, valid up to [#words].
    long[] bits() {
        return bits;
    }

    int words() {
        return words;
    }

    /// How many rows have a value.
    int count() {
        return count;
    }

    void of(Batch batch, int column) {
        words = (batch.rows() + 63) / 64;
        if (bits.length < words) {
            bits = new long[words];
        }
        Arrays.fill(bits, 0, words, 0);
        count = 0;
        int at = 0;
        for (KindRows kind : batch.kinds()) {
            if (kind.isComplete(column)) {
                set(at, at + kind.rows());
                count += kind.rows();
            } else if (kind.has(column)) {
                setSome(kind, column, at);
            }
            at += kind.rows();
        }
    }

    private void set(int from, int to) {
        if (from == to) {
            return;
        }
        int first = from >> 6;
        int last = (to - 1) >> 6;
        long head = -1L << from;
        long tail = -1L >>> -to;
        if (first == last) {
            bits[first] |= head & tail;
            return;
        }
        bits[first] |= head;
        Arrays.fill(bits, first + 1, last, -1L);
        bits[last] |= tail;
    }

    private void setSome(KindRows kind, int column, int at) {
        for (int row = 0; row < kind.rows(); row++) {
            if (kind.isPresent(column, row)) {
                bits[(at + row) >> 6] |= 1L << (at + row);
                count++;
            }
        }
    }
}
