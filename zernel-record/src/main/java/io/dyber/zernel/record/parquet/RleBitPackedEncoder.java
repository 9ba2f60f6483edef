package io.dyber.zernel.record.parquet;

/// Parquet's RLE / bit-packing hybrid: repeated values as runs, the rest as groups of eight packed values.
///
/// Written for whole pages at once; parquet-java's encoder takes one value per call and is the slowest part of a
/// page otherwise.
final class RleBitPackedEncoder {
    /// A shorter run costs more in headers than it saves.
    private static final int SHORTEST_RUN_GROUPS = 2;

    private RleBitPackedEncoder() {}

    /// Bits needed for values up to `max`.
    static int width(int max) {
        return 32 - Integer.numberOfLeadingZeros(max);
    }

    /// Appends `values[0..count)`, each of at most `width` bits.
    static void encode(int[] values, int count, int width, Bytes out) {
        int literals = 0;
        int i = 0;
        while (i < count) {
            int run = runLength(values, i, count);
            boolean worthIt = run >= 8 * SHORTEST_RUN_GROUPS || (i + run == count && literals == i);
            if (worthIt) {
                putLiterals(values, literals, i, width, out);
                putRun(values[i], run, width, out);
                i += run;
                literals = i;
            } else {
                i = Math.min(i + 8, count);
            }
        }
        putLiterals(values, literals, count, width, out);
    }

    /// Appends `count` one-bit values given as a bitmap, 64 a word from `firstWord` on; unused high bits are 0.
    static void encodeBits(long[] bits, int firstWord, int count, Bytes out) {
        int groups = (count + 7) / 8;
        int literals = 0;
        int g = 0;
        while (g < groups) {
            int run = sameGroups(bits, firstWord, g, count);
            if (run >= SHORTEST_RUN_GROUPS || (run > 0 && run == groups && literals == g)) {
                putLiteralBits(bits, firstWord, literals, g, out);
                int values = Math.min(run * 8, count - g * 8);
                putRun(group(bits, firstWord, g) & 1, values, 1, out);
                g += run;
                literals = g;
            } else {
                g++;
            }
        }
        putLiteralBits(bits, firstWord, literals, groups, out);
    }

    private static int runLength(int[] values, int from, int count) {
        int value = values[from];
        int i = from + 1;
        while (i < count && values[i] == value) {
            i++;
        }
        return i - from;
    }

    /// Appends the same value `length` times.
    static void putRun(int value, int length, int width, Bytes out) {
        out.putVarint((long) length << 1);
        out.putLow(value, (width + 7) / 8);
    }

    private static void putLiterals(int[] values, int from, int to, int width, Bytes out) {
        if (from == to) {
            return;
        }
        int groups = (to - from + 7) / 8;
        out.putVarint(((long) groups << 1) | 1);
        int whole = from + (to - from) / 8 * 8;
        for (int i = from; i < whole; i += 8) {
            putGroup(values, i, 8, width, out);
        }
        if (whole < to) {
            putGroup(values, whole, to - whole, width, out);
        }
    }

    /// Eight values of `width` bits are exactly `width` bytes; missing values are 0.
    private static void putGroup(int[] values, int from, int count, int width, Bytes out) {
        long pending = 0;
        int bits = 0;
        int left = width;
        for (int i = 0; i < 8; i++) {
            long value = i < count ? values[from + i] : 0;
            pending |= value << bits;
            bits += width;
            if (bits > 32) {
                out.putLow(pending, 4);
                left -= 4;
                pending >>>= 32;
                bits -= 32;
            }
        }
        out.putLow(pending, left);
    }

    /// How many groups from `g` on are all 0 or all 1 alike; a last partial group counts when its values agree.
    private static int sameGroups(long[] bits, int firstWord, int g, int count) {
        int groups = (count + 7) / 8;
        int first = group(bits, firstWord, g);
        int partial = (1 << (((count - 1) % 8) + 1)) - 1;
        boolean lastAlone = g == groups - 1 && first == partial;
        if (first != 0 && first != 0xFF && !lastAlone) {
            return 0;
        }
        int end = g + 1;
        while (end < groups && isSame(first, group(bits, firstWord, end), end == groups - 1, partial)) {
            end++;
        }
        return end - g;
    }

    private static boolean isSame(int first, int other, boolean last, int partial) {
        return other == (last && first != 0 ? partial : first);
    }

    private static int group(long[] bits, int firstWord, int g) {
        return (int) (bits[firstWord + (g >> 3)] >>> ((g & 7) * 8)) & 0xFF;
    }

    private static void putLiteralBits(long[] bits, int firstWord, int from, int to, Bytes out) {
        if (from == to) {
            return;
        }
        out.putVarint(((long) (to - from) << 1) | 1);
        for (int g = from; g < to; g++) {
            out.putByte(group(bits, firstWord, g));
        }
    }
}
