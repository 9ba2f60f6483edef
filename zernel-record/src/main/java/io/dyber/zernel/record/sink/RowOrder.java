package io.dyber.zernel.record.sink;

import java.util.Arrays;
import java.util.Comparator;

/// The order of rows in a row group: by thread, then by start, then by arrival.
///
/// Neighbours then look alike, which halves the file; readers find one thread's events together.
final class RowOrder {
    private long[] packed = {};
    private int[] order = {};
    private int[] threads = {};

    /// Row numbers of `group` in file order, valid up to its row count until the next call.
    int[] of(RowGroup group) {
        int rows = group.rows();
        if (order.length < rows) {
            packed = new long[rows];
            order = new int[rows];
            threads = new int[rows];
        }
        long[] starts = packed;
        fill(group, "ts_ns", starts);
        long[] range = range(starts, rows);
        int rowBits = Math.max(1, 32 - Integer.numberOfLeadingZeros(rows - 1));
        long span = range[1] - range[0];
        boolean fits = span >= 0 && span >>> (63 - rowBits) == 0;
        return fits ? radix(group, range[0], rowBits) : compare(group, starts);
    }

    /// Counting sort on the thread, then one sort of packed (start, row) numbers per thread.
    private int[] radix(RowGroup group, long first, int rowBits) {
        int rows = group.rows();
        int[] ends = threadStarts(group);
        long[] sorted = new long[rows];
        for (int row = 0; row < rows; row++) {
            sorted[ends[threads[row]]++] = ((packed[row] - first) << rowBits) | row;
        }
        int from = 0;
        for (int end : ends) {
            Arrays.sort(sorted, from, end);
            from = end;
        }
        int mask = (1 << rowBits) - 1;
        for (int i = 0; i < rows; i++) {
            order[i] = (int) sorted[i] & mask;
        }
        return order;
    }

    /// Numbers the threads, stores each row's number, and returns where each thread's rows begin.
    private int[] threadStarts(RowGroup group) {
        int rows = group.rows();
        long[] tids = new long[rows];
        fill(group, "tid", tids);
        long[] distinct = distinct(tids, rows);
        int[] starts = new int[distinct.length + 1];
        long last = rows == 0 ? 0 : ~tids[0];
        int number = 0;
        for (int row = 0; row < rows; row++) {
            if (tids[row] != last) {
                last = tids[row];
                number = Arrays.binarySearch(distinct, last);
            }
            threads[row] = number;
            starts[number + 1]++;
        }
        for (int t = 1; t < starts.length; t++) {
            starts[t] += starts[t - 1];
        }
        return Arrays.copyOf(starts, distinct.length);
    }

    private static long[] distinct(long[] tids, int rows) {
        ValueDictionary seen = new ValueDictionary();
        if (!seen.number(tids, rows, new int[rows])) {
            return Arrays.stream(tids, 0, rows).sorted().distinct().toArray();
        }
        long[] values = new long[seen.size()];
        Arrays.setAll(values, seen::value);
        Arrays.sort(values);
        return values;
    }

    /// For starts so far apart that they do not fit beside a row number: hours of silence, or clock nonsense.
    private int[] compare(RowGroup group, long[] starts) {
        int rows = group.rows();
        long[] tids = new long[rows];
        fill(group, "tid", tids);
        Integer[] boxed = new Integer[rows];
        Arrays.setAll(boxed, i -> i);
        Arrays.sort(
                boxed,
                Comparator.<Integer>comparingLong(row -> tids[row]).thenComparingLong(row -> starts[row]));
        for (int i = 0; i < rows; i++) {
            order[i] = boxed[i];
        }
        return order;
    }

    /// A column's values by row; NULL, or a missing column, is 0.
    private static void fill(RowGroup group, String name, long[] target) {
        int column = group.column(name);
        int rows = group.rows();
        if (column < 0) {
            Arrays.fill(target, 0, rows, 0);
            return;
        }
        ColumnValues values = group.values(column);
        int rank = 0;
        for (int row = 0; row < rows; row++) {
            target[row] = values.isPresent(row) ? values.value(rank++) : 0;
        }
    }

    private static long[] range(long[] values, int rows) {
        long min = Long.MAX_VALUE;
        long max = Long.MIN_VALUE;
        for (int row = 0; row < rows; row++) {
            min = Math.min(min, values[row]);
            max = Math.max(max, values[row]);
        }
        return rows == 0 ? new long[] {0, 0} : new long[] {min, max};
    }
}
