package io.dyber.zernel.record.parquet;

/// Parquet's DELTA_BINARY_PACKED for 64-bit numbers: blocks of 128 differences in four miniblocks, each packed with
/// its own width. Differences wrap, so every pair of neighbours is representable.
final class DeltaBinaryPackedEncoder {
    private static final int BLOCK = 128;
    private static final int MINIBLOCKS = 4;
    private static final int MINIBLOCK = BLOCK / MINIBLOCKS;

    private final long[] block = new long[BLOCK];

    /// Appends `values[0..count)`.
    void encode(long[] values, int count, Bytes out) {
        out.putVarint(BLOCK);
        out.putVarint(MINIBLOCKS);
        out.putVarint(count);
        long previous = count == 0 ? 0 : values[0];
        out.putVarint(zigzag(previous));
        for (int from = 1; from < count; from += BLOCK) {
            int length = Math.min(BLOCK, count - from);
            long min = Long.MAX_VALUE;
            for (int i = 0; i < length; i++) {
                long value = values[from + i];
                block[i] = value - previous;
                min = Math.min(min, block[i]);
                previous = value;
            }
            putBlock(min, length, out);
        }
    }

    private void putBlock(long min, int length, Bytes out) {
        out.putVarint(zigzag(min));
        int widths = 0;
        for (int i = 0; i < BLOCK; i++) {
            block[i] = i < length ? block[i] - min : 0;
        }
        for (int m = 0; m < MINIBLOCKS; m++) {
            widths |= width(m * MINIBLOCK) << (8 * m);
        }
        out.putInt(widths);
        for (int m = 0; m * MINIBLOCK < length; m++) {
            putPacked(m * MINIBLOCK, (widths >>> (8 * m)) & 0xFF, out);
        }
    }

    private int width(int from) {
        long all = 0;
        for (int i = from; i < from + MINIBLOCK; i++) {
            all |= block[i];
        }
        return 64 - Long.numberOfLeadingZeros(all);
    }

    /// 32 values of `width` bits, least significant bit first: `4 * width` bytes.
    private void putPacked(int from, int width, Bytes out) {
        long pending = 0;
        int used = 0;
        for (int i = from; i < from + MINIBLOCK; i++) {
            long value = block[i];
            pending |= value << used;
            used += width;
            if (used >= 64) {
                out.putLong(pending);
                used -= 64;
                pending = used == 0 ? 0 : value >>> (width - used);
            }
        }
        out.putLow(pending, used / 8);
    }

    private static long zigzag(long value) {
        return (value << 1) ^ (value >> 63);
    }
}
