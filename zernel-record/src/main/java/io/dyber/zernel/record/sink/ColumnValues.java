package io.dyber.zernel.record.sink;

import io.dyber.zernel.record.event.Batch;
import java.util.Arrays;

/// The values of one column of the row group being filled: only those that are not NULL, and one presence bit a row.
///
/// A column without values costs nothing, so a wide table of mostly empty columns stays small.
final class ColumnValues {
    private static final int CHUNK_BITS = 14;
    private static final int CHUNK = 1 << CHUNK_BITS;
    private static final int IN_CHUNK = CHUNK - 1;
    private static final long[] NONE = {};

    private final boolean narrow;
    private long[][] longs = {};
    private int[][] ints = {};
    private int count;
    private long[] present = NONE;

    /// @param narrow the values are dictionary ids and fit 31 bits
    ColumnValues(boolean narrow) {
        this.narrow = narrow;
    }

    /// How many rows have a value.
    int count() {
        return count;
    }

    /// The `rank`-th value in row order.
    long value(int rank) {
        int chunk = rank >> CHUNK_BITS;
        int at = rank & IN_CHUNK;
        return narrow ? ints[chunk][at] : longs[chunk][at];
    }

    boolean isPresent(int row) {
        int word = row >> 6;
        return word < present.length && (present[word] & (1L << row)) != 0;
    }

    /// The presence bits of rows `64 * word` and following.
    long presentWord(int word) {
        return word < present.length ? present[word] : 0;
    }

    /// Adds the rows of `batch` behind the `before` rows that are here.
    void append(Batch batch, int column, int before) {
        int rows = batch.rows();
        long[] bits = batch.present(column);
        int words = (rows + 63) / 64;
        int added = 0;
        for (int w = 0; w < words; w++) {
            added += Long.bitCount(bits[w]);
        }
        if (added == 0) {
            return;
        }
        mergeBits(bits, words, before);
        reserve(count + added);
        if (added == rows) {
            copyAll(batch.values(column), rows);
        } else {
            copyPresent(batch.values(column), bits, words);
        }
    }

    /// Forgets the values. Keeps the memory that the last filling needed for the next one.
    void clear() {
        int used = (count + CHUNK - 1) / CHUNK;
        longs = narrow ? longs : Arrays.copyOf(longs, used);
        ints = narrow ? Arrays.copyOf(ints, used) : ints;
        if (count == 0) {
            present = NONE;
        }
        Arrays.fill(present, 0);
        count = 0;
    }

    private void mergeBits(long[] bits, int words, int before) {
        int first = before >> 6;
        int shift = before & 63;
        if (present.length < first + words + 1) {
            present = Arrays.copyOf(present, Math.max(first + words + 1, present.length * 2));
        }
        for (int w = 0; w < words; w++) {
            present[first + w] |= bits[w] << shift;
            if (shift != 0) {
                present[first + w + 1] |= bits[w] >>> (64 - shift);
            }
        }
    }

    private void reserve(int values) {
        int chunks = (values + CHUNK - 1) / CHUNK;
        if (narrow) {
            int have = ints.length;
            ints = have < chunks ? Arrays.copyOf(ints, chunks) : ints;
            for (int c = have; c < chunks; c++) {
                ints[c] = new int[CHUNK];
            }
        } else {
            int have = longs.length;
            longs = have < chunks ? Arrays.copyOf(longs, chunks) : longs;
            for (int c = have; c < chunks; c++) {
                longs[c] = new long[CHUNK];
            }
        }
    }

    private void copyAll(long[] values, int rows) {
        int from = 0;
        while (from < rows) {
            int at = count & IN_CHUNK;
            int length = Math.min(rows - from, CHUNK - at);
            if (narrow) {
                int[] chunk = ints[count >> CHUNK_BITS];
                for (int i = 0; i < length; i++) {
                    chunk[at + i] = (int) values[from + i];
                }
            } else {
                System.arraycopy(values, from, longs[count >> CHUNK_BITS], at, length);
            }
            from += length;
            count += length;
        }
    }

    private void copyPresent(long[] values, long[] bits, int words) {
        for (int w = 0; w < words; w++) {
            for (long rest = bits[w]; rest != 0; rest &= rest - 1) {
                long value = values[w * 64 + Long.numberOfTrailingZeros(rest)];
                if (narrow) {
                    ints[count >> CHUNK_BITS][count & IN_CHUNK] = (int) value;
                } else {
                    longs[count >> CHUNK_BITS][count & IN_CHUNK] = value;
                }
                count++;
            }
        }
    }
}
