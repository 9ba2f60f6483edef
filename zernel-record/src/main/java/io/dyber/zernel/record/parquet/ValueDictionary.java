package io.dyber.zernel.record.parquet;

import java.util.Arrays;

/// The distinct values of one column chunk, numbered in order of first use. Refuses to grow beyond [#LIMIT].
final class ValueDictionary {
    /// Above this a dictionary costs more than it saves.
    static final int LIMIT = 1 << 16;

    /// Values from 0 to here (texts, CPUs, sizes of grids) are looked up in a table, the others in a hash table.
    private static final int DIRECT = 1 << 14;

    private final int[] direct = new int[DIRECT];
    private long[] keys = new long[256];
    private int[] slots = new int[256];
    private long[] values = new long[128];
    private int size;
    private int used;
    private long min;
    private long max;

    int size() {
        return size;
    }

    long value(int id) {
        return values[id];
    }

    /// The number of a value that has one.
    int numberOf(long value) {
        return id(value);
    }

    /// The smallest of the values that the last call of [#number] was given.
    long min() {
        return min;
    }

    /// The largest of the values that the last call of [#number] was given.
    long max() {
        return max;
    }

    /// Forgets every value numbered `size` and above; only [#value] may be used afterwards, until [#clear].
    void truncate(int size) {
        this.size = size;
    }

    void clear() {
        for (int id = 0; id < used; id++) {
            if (values[id] >= 0 && values[id] < DIRECT) {
                direct[(int) values[id]] = 0;
            }
        }
        Arrays.fill(slots, 0);
        size = 0;
        used = 0;
    }

    /// Writes the number of each value to `ids`; false when the values do not fit.
    boolean number(long[] source, int count, int[] ids) {
        long last = count == 0 ? 0 : ~source[0];
        int lastId = 0;
        min = Long.MAX_VALUE;
        max = Long.MIN_VALUE;
        for (int i = 0; i < count; i++) {
            long value = source[i];
            if (value != last) {
                lastId = id(value);
                if (lastId < 0) {
                    return false;
                }
                min = Math.min(min, value);
                max = Math.max(max, value);
                last = value;
            }
            ids[i] = lastId;
        }
        return true;
    }

    private int id(long value) {
        if (value >= 0 && value < DIRECT) {
            int known = direct[(int) value];
            return known != 0 ? known - 1 : addDirect(value);
        }
        int mask = slots.length - 1;
        int slot = slot(value, mask);
        while (slots[slot] != 0) {
            if (keys[slot] == value) {
                return slots[slot] - 1;
            }
            slot = (slot + 1) & mask;
        }
        return add(value, slot);
    }

    private int addDirect(long value) {
        if (size == LIMIT) {
            return -1;
        }
        if (size == values.length) {
            grow();
        }
        values[size] = value;
        direct[(int) value] = ++size;
        used = size;
        return size - 1;
    }

    private int add(long value, int slot) {
        if (size == LIMIT) {
            return -1;
        }
        if (size == values.length) {
            grow();
            return id(value);
        }
        values[size] = value;
        keys[slot] = value;
        slots[slot] = ++size;
        used = size;
        return size - 1;
    }

    private void grow() {
        values = Arrays.copyOf(values, values.length * 2);
        keys = new long[values.length * 2];
        slots = new int[values.length * 2];
        int mask = slots.length - 1;
        for (int id = 0; id < size; id++) {
            if (values[id] < 0 || values[id] >= DIRECT) {
                int slot = slot(values[id], mask);
                while (slots[slot] != 0) {
                    slot = (slot + 1) & mask;
                }
                keys[slot] = values[id];
                slots[slot] = id + 1;
            }
        }
    }

    private static int slot(long value, int mask) {
        long mixed = value * 0x9E3779B97F4A7C15L;
        return (int) (mixed >>> 40) & mask;
    }
}
