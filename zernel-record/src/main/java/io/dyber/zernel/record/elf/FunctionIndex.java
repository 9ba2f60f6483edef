package io.dyber.zernel.record.elf;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
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
        List<Integer> order = new ArrayList<>(builder.size);
        for (int i = 0; i < builder.size; i++) {
            order.add(i);
        }
        order.sort(Comparator.comparingLong(i -> builder.starts[i]));
        starts = new long[builder.size];
        ends = new long[builder.size];
        names = new int[builder.size];
        tables = new int[builder.size];
        strings = List.copyOf(builder.strings);
        for (int i = 0; i < builder.size; i++) {
            int from = order.get(i);
            starts[i] = builder.starts[from];
            ends[i] = builder.ends[from];
            names[i] = builder.names[from];
            tables[i] = builder.tables[from];
        }
    }

    /// Collects the functions of the tables of a file.
    static final class Builder {
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

        void add(long start, long end, int name) {
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
