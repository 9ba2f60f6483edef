package io.dyber.zernel.record.parquet;

import java.util.Arrays;
import java.util.Comparator;

/// The order of rows in a row group: by thread, then by start, then by arrival.
///
/// Neighbours then look alike, which halves the file; readers find one thread's events together.
final class SortOrder {
    private final RowPermutation order = new RowPermutation();
    private final ValueDictionary threadNumbers = new ValueDictionary();
    private long[] starts = {};
    private long[] sorted = {};
    private long[] tids = {};
    private int[] threads = {};

    /// The order of the rows of `group`, valid until the next call.
    RowPermutation of(RowGroup group) {
        int rows = group.rows();
        if (starts.length < rows) {
            starts = new long[rows];
            sorted = new long[rows];
            tids = new long[rows];
            threads = new int[rows];
        }
        fill(group, group.column("ts_ns"), starts);
        fill(group, group.column("tid"), tids);
        long first = min(starts, rows);
        int rowBits = Math.max(1, 32 - Integer.numberOfLeadingZeros(rows - 1));
        long span = max(starts, rows) - first;
        threadNumbers.clear();
        boolean fits = span >= 0 && span >>> (63 - rowBits) == 0 && threadNumbers.number(tids, rows, threads);
        if (fits) {
            radix(rows, first, rowBits);
        } else {
            compare(rows);
        }
        order.set(group, sorted);
        return order;
    }

    /// Counting sort on the thread, then one sort of packed (start, row) numbers per thread.
    private void radix(int rows, long first, int rowBits) {
        int[] ends = threadStarts(rows);
        for (int row = 0; row < rows; row++) {
            sorted[ends[threads[row]]++] = ((starts[row] - first) << rowBits) | row;
        }
        Arrays.sort(ends);
        int from = 0;
        for (int end : ends) {
            Arrays.sort(sorted, from, end);
            from = end;
        }
        long mask = (1L << rowBits) - 1;
        for (int i = 0; i < rows; i++) {
            sorted[i] &= mask;
        }
    }

    /// Where each thread's rows begin, by the numbers of the threads, the smallest thread's first.
    private int[] threadStarts(int rows) {
        int[] counts = new int[threadNumbers.size()];
        for (int row = 0; row < rows; row++) {
            counts[threads[row]]++;
        }
        long[] byTid = new long[counts.length];
        Arrays.setAll(byTid, threadNumbers::value);
        Arrays.sort(byTid);
        int[] begins = new int[counts.length];
        int next = 0;
        for (long tid : byTid) {
            int number = threadNumbers.numberOf(tid);
            begins[number] = next;
            next += counts[number];
        }
        return begins;
    }

    /// For starts so far apart that they do not fit beside a row number: hours of silence, or clock nonsense.
    private void compare(int rows) {
        Integer[] boxed = new Integer[rows];
        Arrays.setAll(boxed, i -> i);
        Arrays.sort(
                boxed,
                Comparator.<Integer>comparingLong(row -> tids[row]).thenComparingLong(row -> starts[row]));
        for (int i = 0; i < rows; i++) {
            sorted[i] = boxed[i];
        }
    }

    /// A BIGINT column's values in order of arrival; NULL, or a missing column, is 0.
    private static void fill(RowGroup group, int column, long[] target) {
        int kindCount = group.kinds().size();
        KindColumns[] kinds = group.kinds().toArray(KindColumns[]::new);
        long[][][] chunks = new long[kindCount][][];
        boolean[] complete = new boolean[kindCount];
        for (int k = 0; k < kindCount; k++) {
            chunks[k] = column < 0 ? new long[0][] : kinds[k].longs(column);
            complete[k] = column >= 0 && kinds[k].isComplete(column);
        }
        int[] next = new int[kindCount];
        byte[] rowKinds = group.rowKinds();
        for (int row = 0; row < group.rows(); row++) {
            int k = rowKinds[row];
            int place = next[k]++;
            boolean present = complete[k] || (column >= 0 && kinds[k].has(column) && kinds[k].isPresent(column, place));
            target[row] = present ? chunks[k][place >> KindColumns.CHUNK_BITS][place & KindColumns.IN_CHUNK] : 0;
        }
    }

    private static long min(long[] values, int count) {
        long min = count == 0 ? 0 : values[0];
        for (int i = 1; i < count; i++) {
            min = Math.min(min, values[i]);
        }
        return min;
    }

    private static long max(long[] values, int count) {
        long max = count == 0 ? 0 : values[0];
        for (int i = 1; i < count; i++) {
            max = Math.max(max, values[i]);
        }
        return max;
    }
}
