package io.dyber.zernel.record.event;

import java.util.Arrays;

/// From keys of two words to numbers from 0 upwards, without an object per key. Holds at most half its slots.
final class KeyTable {
    private final long[] keys;
    private final int[] values;
    private int used;

    /// @param slots a power of two
    KeyTable(int slots) {
        keys = new long[2 * slots];
        values = new int[slots];
        Arrays.fill(values, -1);
    }

    int capacity() {
        return values.length;
    }

    boolean isFull() {
        return 2 * used >= values.length;
    }

    /// The value of a key, -1 for none.
    int get(long first, long second) {
        return values[slot(first, second)];
    }

    /// The table must not be full.
    void put(long first, long second, int value) {
        int slot = slot(first, second);
        if (values[slot] < 0) {
            used++;
        }
        keys[2 * slot] = first;
        keys[2 * slot + 1] = second;
        values[slot] = value;
    }

    private int slot(long first, long second) {
        int mask = values.length - 1;
        int at = (int) (((first * 31 + second) * 0x9E3779B97F4A7C15L) >>> 32) & mask;
        while (values[at] >= 0 && (keys[2 * at] != first || keys[2 * at + 1] != second)) {
            at = (at + 1) & mask;
        }
        return at;
    }
}
