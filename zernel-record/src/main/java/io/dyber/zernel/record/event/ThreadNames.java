package io.dyber.zernel.record.event;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/// Thread names and other texts of up to 16 bytes as dictionary ids, looked up by their 16 raw bytes without making a string. Not thread-safe.
final class ThreadNames {
    private static final int FIRST_SIZE = 256;

    /// With more names than half of this, all are looked up again.
    private static final int MOST_SIZE = 1 << 17;

    private final StringDictionary texts;
    private long[] keys = {};
    private int[] ids = {};
    private int used;

    /// Looked up last: mostly the next one too.
    private long lastLow;
    private long lastHigh;
    private int last = -1;

    ThreadNames(StringDictionary texts) {
        this.texts = texts;
        clear(FIRST_SIZE);
    }

    private void clear(int size) {
        keys = new long[2 * size];
        ids = new int[size];
        Arrays.fill(ids, -1);
        used = 0;
    }

    /// The id of the name held in two little-endian words, zero-terminated unless it fills them.
    int id(long low, long high) {
        if (last < 0 || low != lastLow || high != lastHigh) {
            last = find(low, high);
            lastLow = low;
            lastHigh = high;
        }
        return last;
    }

    private int find(long low, long high) {
        int mask = ids.length - 1;
        int at = (int) (((low * 31 + high) * 0x9E3779B97F4A7C15L) >>> 32) & mask;
        while (ids[at] >= 0) {
            if (keys[2 * at] == low && keys[2 * at + 1] == high) {
                return ids[at];
            }
            at = (at + 1) & mask;
        }
        int id = texts.idOfMany(decode(low, high));
        keys[2 * at] = low;
        keys[2 * at + 1] = high;
        ids[at] = id;
        if (++used * 2 > ids.length) {
            grow();
        }
        return id;
    }

    private void grow() {
        if (ids.length == MOST_SIZE) {
            clear(FIRST_SIZE);
            return;
        }
        long[] oldKeys = keys;
        int[] oldIds = ids;
        clear(2 * oldIds.length);
        for (int i = 0; i < oldIds.length; i++) {
            if (oldIds[i] >= 0) {
                int _ = find(oldKeys[2 * i], oldKeys[2 * i + 1]);
            }
        }
    }

    private static String decode(long low, long high) {
        byte[] bytes = new byte[16];
        int length = 0;
        while (length < 16) {
            byte b = (byte) ((length < 8 ? low : high) >>> (8 * (length & 7)));
            if (b == 0) {
                break;
            }
            bytes[length++] = b;
        }
        return new String(bytes, 0, length, StandardCharsets.UTF_8);
    }
}
