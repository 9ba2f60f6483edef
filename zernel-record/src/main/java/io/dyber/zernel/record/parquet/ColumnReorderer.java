package io.dyber.zernel.record.parquet;

import java.util.Arrays;

/// The rows of a column in file order, page by page: the values that are not NULL, and the definition levels. Reused
/// column after column.
///
/// Most columns belong to one kind and are put in order without looking at the rows of others.
public final class ColumnReorderer {
    /// Rows in a page; the last page of a row group has fewer.
    public static final int CAPACITY = 1 << 17;

    private static final long[][] NO_LONGS = {};
    private static final int[][] NO_INTS = {};

    private final long[] values = new long[CAPACITY];
    private final Bytes levels = new Bytes();
    private KindColumns[] kinds = {};
    private RowPermutation order = new RowPermutation();
    private byte[] arrivals = {};
    private byte[][][] levelsOfKind = {};
    private long[] sorted = {};
    private long[] present = {};
    private int only;
    private boolean isConstant;
    private int rows;
    private int count;

    /// Rows of the page.
    int rows() {
        return rows;
    }

    /// How many rows of the page have a value.
    int count() {
        return count;
    }

    /// The values of the page that are not NULL, valid up to [#count].
    long[] values() {
        return values;
    }

    /// Prepares for the columns of a row group.
    void open(RowGroup group, RowPermutation fileOrder) {
        kinds = group.kinds().toArray(KindColumns[]::new);
        arrivals = group.rowKinds();
        order = fileOrder;
        levelsOfKind = new byte[kinds.length][(order.rows() + CAPACITY - 1) / CAPACITY][];
        if (sorted.length < order.rows()) {
            sorted = new long[order.rows()];
            present = new long[(order.rows() + 63) / 64];
        }
    }

    /// Puts a column in order; false when it has no value at all.
    boolean sort(int column) {
        only = onlyKind(column);
        if (only >= 0) {
            isConstant = kinds[only].isConstant(column);
            if (isConstant) {
                values[0] = kinds[only].constant(column);
            } else {
                scatter(kinds[only], column);
            }
            return true;
        }
        isConstant = false;
        return merge(column);
    }

    /// Whether all values of the column that was put in order are the same; a page then has but the first of
    /// [#values].
    boolean isConstant() {
        return isConstant;
    }

    /// Goes to a page of the column that was put in order, and appends its definition levels.
    void pick(int page, Bytes out) {
        int from = page * CAPACITY;
        rows = Math.min(CAPACITY, order.rows() - from);
        if (only >= 0) {
            int first = order.pageStart(only, page);
            count = order.pageStart(only, page + 1) - first;
            if (!isConstant) {
                System.arraycopy(sorted, first, values, 0, count);
            }
            out.putAll(levels(only, page));
        } else {
            compact(from);
            RleBitPackedEncoder.encodeBits(present, from / 64, rows, out);
        }
    }

    /// The kind that has the column in all of its rows, when no other has it at all; else -1.
    private int onlyKind(int column) {
        int found = -1;
        for (int k = 0; k < kinds.length; k++) {
            if (kinds[k].has(column)) {
                if (found >= 0 || !kinds[k].isComplete(column)) {
                    return -1;
                }
                found = k;
            }
        }
        return found;
    }

    private void scatter(KindColumns kind, int column) {
        int base = order.base(only);
        for (int start = 0; start < kind.rows(); start += KindColumns.CHUNK) {
            int chunk = start >> KindColumns.CHUNK_BITS;
            int length = Math.min(KindColumns.CHUNK, kind.rows() - start);
            if (kind.isNarrow(column)) {
                scatter(kind.ints(column)[chunk], order.ranks(), base + start, length, sorted);
            } else {
                scatter(kind.longs(column)[chunk], order.ranks(), base + start, length, sorted);
            }
        }
    }

    private static void scatter(int[] from, int[] targets, int base, int length, long[] to) {
        for (int i = 0; i < length; i++) {
            to[targets[base + i]] = from[i];
        }
    }

    private static void scatter(long[] from, int[] targets, int base, int length, long[] to) {
        for (int i = 0; i < length; i++) {
            to[targets[base + i]] = from[i];
        }
    }

    /// Puts a column of several kinds in order.
    private boolean merge(int column) {
        boolean any = false;
        boolean complete = true;
        boolean constant = true;
        for (KindColumns kind : kinds) {
            any |= kind.has(column);
            complete &= kind.rows() == 0 || kind.isComplete(column);
            constant &= kind.rows() == 0 || kind.isConstant(column);
        }
        if (constant) {
            mergeConstants(column);
        } else if (any && kinds[0].isNarrow(column)) {
            mergeInts(column);
        } else if (any) {
            mergeLongs(column);
        }
        if (complete) {
            Arrays.fill(present, 0, order.rows() / 64, -1);
            if ((order.rows() & 63) != 0) {
                present[order.rows() / 64] = (1L << order.rows()) - 1;
            }
        } else if (any) {
            mark(column);
        }
        return any;
    }

    private void mergeConstants(int column) {
        long[] constants = new long[kinds.length];
        Arrays.setAll(constants, k -> kinds[k].constant(column));
        byte[] rowKinds = order.kinds();
        for (int row = 0; row < order.rows(); row++) {
            sorted[row] = constants[rowKinds[row]];
        }
    }

    private void mergeLongs(int column) {
        long[][][] chunks = new long[kinds.length][][];
        Arrays.setAll(chunks, k -> kinds[k].has(column) ? kinds[k].longs(column) : NO_LONGS);
        int[] next = new int[kinds.length];
        int[] fileRows = order.fileRows();
        for (int arrival = 0; arrival < order.rows(); arrival++) {
            int k = arrivals[arrival];
            int place = next[k]++;
            long[][] ofKind = chunks[k];
            int chunk = place >> KindColumns.CHUNK_BITS;
            if (chunk < ofKind.length) {
                sorted[fileRows[arrival]] = ofKind[chunk][place & KindColumns.IN_CHUNK];
            }
        }
    }

    private void mergeInts(int column) {
        int[][][] chunks = new int[kinds.length][][];
        Arrays.setAll(chunks, k -> kinds[k].has(column) ? kinds[k].ints(column) : NO_INTS);
        int[] next = new int[kinds.length];
        int[] fileRows = order.fileRows();
        for (int arrival = 0; arrival < order.rows(); arrival++) {
            int k = arrivals[arrival];
            int place = next[k]++;
            int[][] ofKind = chunks[k];
            int chunk = place >> KindColumns.CHUNK_BITS;
            if (chunk < ofKind.length) {
                sorted[fileRows[arrival]] = ofKind[chunk][place & KindColumns.IN_CHUNK];
            }
        }
    }

    /// Notes which rows have a value.
    private void mark(int column) {
        boolean[] complete = new boolean[kinds.length];
        boolean[] partial = new boolean[kinds.length];
        boolean anyPartial = false;
        for (int k = 0; k < kinds.length; k++) {
            complete[k] = kinds[k].isComplete(column) && kinds[k].rows() > 0;
            partial[k] = !complete[k] && kinds[k].has(column);
            anyPartial |= partial[k];
        }
        byte[] rowKinds = order.kinds();
        for (int from = 0; from < order.rows(); from += 64) {
            long bits = 0;
            int end = Math.min(64, order.rows() - from);
            for (int i = 0; i < end; i++) {
                bits |= complete[rowKinds[from + i]] ? 1L << i : 0;
            }
            present[from / 64] = bits;
        }
        if (anyPartial) {
            markSome(column, partial);
        }
    }

    private void markSome(int column, boolean[] partial) {
        int[] next = new int[kinds.length];
        int[] fileRows = order.fileRows();
        for (int arrival = 0; arrival < order.rows(); arrival++) {
            int k = arrivals[arrival];
            int place = next[k]++;
            if (partial[k] && kinds[k].isPresent(column, place)) {
                int row = fileRows[arrival];
                present[row >> 6] |= 1L << row;
            }
        }
    }

    private void compact(int from) {
        count = 0;
        for (int word = 0; word * 64 < rows; word++) {
            long bits = present[from / 64 + word];
            int at = from + word * 64;
            if (bits == -1) {
                System.arraycopy(sorted, at, values, count, 64);
                count += 64;
                continue;
            }
            for (long rest = bits; rest != 0; rest &= rest - 1) {
                values[count++] = sorted[at + Long.numberOfTrailingZeros(rest)];
            }
        }
    }

    /// The definition levels of a column that just this kind has; all of its columns share them.
    private byte[] levels(int kind, int page) {
        byte[] known = levelsOfKind[kind][page];
        if (known == null) {
            byte[] rowKinds = order.kinds();
            int from = page * CAPACITY;
            Arrays.fill(present, 0, (rows + 63) / 64, 0);
            for (int i = 0; i < rows; i++) {
                if (rowKinds[from + i] == kind) {
                    present[i >> 6] |= 1L << i;
                }
            }
            levels.clear();
            RleBitPackedEncoder.encodeBits(present, 0, rows, levels);
            known = Arrays.copyOf(levels.array(), levels.size());
            levelsOfKind[kind][page] = known;
        }
        return known;
    }
}
