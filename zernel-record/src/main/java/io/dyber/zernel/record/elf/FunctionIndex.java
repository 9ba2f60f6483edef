package io.dyber.zernel.record.elf;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// The functions of a file by their places in it, for looking up many of them. Names are read when they are asked for.
public final class FunctionIndex {
    private final long[] starts;
    private final long[] ends;
    private final int[] names;
    private final List<ByteBuffer> strings;
    private final int[] tables;

    private FunctionIndex(Builder builder) {
        long[] order = builder.order();
        starts = new long[order.length];
        ends = new long[order.length];
        names = new int[order.length];
        tables = new int[order.length];
        strings = List.copyOf(builder.strings);
        for (int i = 0; i < order.length; i++) {
            int from = (int) order[i] & Builder.MOST;
            starts[i] = builder.starts[from];
            ends[i] = builder.ends[from];
            names[i] = builder.names[from];
            tables[i] = builder.tables[from];
        }
    }

    /// Collects the functions of the tables of a file.
    static final class Builder {
        /// So many bits of a number that is sorted are the place of a function here, and the others its start.
        private static final int PLACE_BITS = 24;

        private static final int MOST = (1 << PLACE_BITS) - 1;
        private long[] starts = new long[1024];
        private long[] ends = new long[1024];
        private int[] names = new int[1024];
        private int[] tables = new int[1024];
        private final List<ByteBuffer> strings = new ArrayList<>();
        private int size;

        /// The functions that follow have their names here.
        void table(ByteBuffer text) {
            strings.add(text);
        }

        /// Adds one; none whose place no file of 500 GB has, nor more than sixteen million.
        void add(long start, long end, int name) {
            if (start < 0 || start >>> (Long.SIZE - 1 - PLACE_BITS) != 0 || size == MOST) {
                return;
            }
            if (size == starts.length) {
                starts = Arrays.copyOf(starts, 2 * size);
                ends = Arrays.copyOf(ends, 2 * size);
                names = Arrays.copyOf(names, 2 * size);
                tables = Arrays.copyOf(tables, 2 * size);
            }
            starts[size] = start;
            ends[size] = end;
            names[size] = name;
            tables[size++] = strings.size() - 1;
        }

        /// Starts in ascending order, each with the place that it is from in its last bits: as objects, the half million of a
        /// large library would need several times as long and as much memory.
        private long[] order() {
            long[] order = new long[size];
            for (int i = 0; i < size; i++) {
                order[i] = starts[i] << PLACE_BITS | i;
            }
            Arrays.sort(order);
            return order;
        }

        FunctionIndex build() {
            return new FunctionIndex(this);
        }
    }

    /// The name of the function that a place of the file is in; none where no function of known size is, or where the file
    /// was cut since.
    public Optional<String> at(long offset) {
        int found = Arrays.binarySearch(starts, offset);
        int at = found >= 0 ? found : -found - 2;
        if (at < 0 || offset >= ends[at]) {
            return Optional.empty();
        }
        try {
            return Optional.of(ElfLayout.text(strings.get(tables[at]), names[at]));
        } catch (InternalError _) {
            // As in Damage: the page of the name is no longer in the file.
            return Optional.empty();
        }
    }
}
