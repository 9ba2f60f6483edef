package io.dyber.zernel.record.journal;

import java.util.Arrays;

/// Columns of numbers as ZSTD frames, which every reader of Arrow takes, without searching for what repeats: what repeats in
/// a column of 8 or 4 bytes a value are the upper bytes of the value before.
///
/// Of each value only the bytes that differ within its stretch are literals; the others are a match with the distance of one
/// value. All sequences of such a block are the same, so they have no codes (RFC 8878, `RLE_Mode`): a block is literals and
/// a dozen bytes. Takes some nanoseconds a value; ZSTD's own fastest level takes ten times as long.
final class ZstdFrames {
    private static final int MAGIC = 0xFD2FB528;
    /// A single segment whose length has four bytes.
    private static final int DESCRIPTOR = 0xA0;
    private static final int BLOCK = 1 << 17;
    private static final int RAW = 0;
    private static final int REPEATED_BYTE = 1;
    private static final int COMPRESSED = 2;
    /// Of literal lengths, offsets and match lengths: one code each for all sequences.
    private static final int SAME_CODES = 0x54;
    private static final int RAW_LITERALS = 0xC;
    private static final int SHORTEST_MATCH = 3;
    /// With fewer values a block would be no smaller than they are.
    private static final int FEWEST_SAME = 4;
    private static final int FEWEST_NARROW = 16;
    /// Sequences that say their distance, before those that say it is the same.
    private static final int FIRST_SEQUENCES = 8;
    /// Codes of match lengths that are followed by bits: the first such length, then from where powers of two follow.
    private static final int[] LENGTHS = {35, 37, 39, 41, 43, 47, 51, 59, 67, 83, 99};
    private static final int[] LENGTH_BITS = {1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5};
    private static final int FIRST_LENGTH = 32;
    private static final int POWERS_FROM = 131;
    private static final int POWER_CODE = 36;

    private byte[] bytes = new byte[1 << 16];
    private int size;
    private int lastBlock;
    private int lastDistance;
    private int zeros;

    /// What was written, up to [#size]; replaced when it grows.
    byte[] bytes() {
        return bytes;
    }

    int size() {
        return size;
    }

    void clear() {
        size = 0;
    }

    /// Appends zeros up to a multiple of 8, and so many bytes at least.
    void pad(int least) {
        int end = (Math.max(size, least) + 7) & ~7;
        reserve(end - size);
        Arrays.fill(bytes, size, end, (byte) 0);
        size = end;
    }

    /// Appends bytes that are no frame.
    void plain(byte[] added) {
        reserve(added.length);
        System.arraycopy(added, 0, bytes, size, added.length);
        size += added.length;
    }

    /// Appends a number that is no frame.
    void plain(int value) {
        reserve(Integer.BYTES);
        put(value, Integer.BYTES);
    }

    /// Begins the frame of a buffer of so many bytes, at least one: its length, as Arrow wants it, and the frame's head.
    void begin(int length) {
        reserve(32);
        put(length, Long.BYTES);
        put(MAGIC, 4);
        put(DESCRIPTOR, 1);
        put(length, 4);
        lastDistance = 0;
        zeros = 0;
    }

    void end() {
        endZeros();
        bytes[lastBlock] |= 1;
    }

    void zeros(int count) {
        zeros += count;
    }

    /// Bitmaps, in which the same word often follows itself.
    void words(long[] words, int count) {
        int at = 0;
        while (at < count) {
            int same = run(words, at, count);
            if (isOneByte(words[at])) {
                repeatByte((byte) words[at], same * Long.BYTES);
            } else {
                int end = at + same;
                while (end < count && !isOneByte(words[end])) {
                    end++;
                }
                same = Math.min(end - at, BLOCK / Long.BYTES);
                raw(words, at, same, Long.BYTES);
            }
            at += same;
        }
    }

    /// Values of so many bytes, 4 or 8.
    void values(long[] values, int from, int count, int width) {
        int most = BLOCK / width;
        for (int at = from; at < from + count; at += most) {
            stretch(values, at, Math.min(most, from + count - at), width);
        }
    }

    private void stretch(long[] values, int from, int count, int width) {
        int differing = differing(values, from, count);
        if (differing == 0 && isOneByte(width == Long.BYTES ? values[from] : (values[from] << 32) | (values[from] & 0xFFFFFFFFL))) {
            repeatByte((byte) values[from], count * width);
        } else if (count < (differing == 0 ? FEWEST_SAME : FEWEST_NARROW) || width - differing < SHORTEST_MATCH) {
            raw(values, from, count, width);
        } else if (differing == 0) {
            raw(values, from, 1, width);
            repeat(width, (count - 1) * width);
        } else {
            raw(values, from, 1, width);
            int first = lastDistance == width ? 0 : FIRST_SEQUENCES;
            if (first > 0) {
                narrow(values, from + 1, first, differing, width);
            }
            narrow(values, from + 1 + first, count - 1 - first, differing, width);
        }
    }

    /// How many low bytes of the values are not the same in all.
    private static int differing(long[] values, int from, int count) {
        long first = values[from];
        long bits = 0;
        for (int i = from + 1; i < from + count; i++) {
            bits |= values[i] ^ first;
        }
        return (71 - Long.numberOfLeadingZeros(bits)) / 8;
    }

    private void raw(long[] values, int from, int count, int width) {
        int block = open(count * width);
        for (int i = from; i < from + count; i++) {
            put(values[i], width);
        }
        close(block, RAW);
    }

    /// Of each value the low bytes; the others are those of the value before.
    private void narrow(long[] values, int from, int count, int low, int width) {
        int block = open(count * low);
        put(RAW_LITERALS | (count * low) << 4, 3);
        byte[] target = bytes;
        int at = size;
        for (int i = from; i < from + count; i++) {
            long value = values[i];
            for (int b = 0; b < low; b++) {
                target[at++] = (byte) value;
                value >>>= 8;
            }
        }
        size = at;
        sequences(count, low, width, width - low - SHORTEST_MATCH, 0, 0);
        close(block, COMPRESSED);
    }

    /// So many bytes, each as that at the distance before it.
    private void repeat(int distance, int length) {
        int block = open(0);
        put(RAW_LITERALS, 3);
        lastDistance = 0;
        if (length < LENGTHS[0]) {
            sequences(1, 0, distance, length - SHORTEST_MATCH, 0, 0);
        } else if (length < POWERS_FROM) {
            int code = LENGTHS.length - 1;
            while (LENGTHS[code] > length) {
                code--;
            }
            sequences(1, 0, distance, FIRST_LENGTH + code, length - LENGTHS[code], LENGTH_BITS[code]);
        } else {
            int bits = 31 - Integer.numberOfLeadingZeros(length - SHORTEST_MATCH);
            sequences(1, 0, distance, POWER_CODE + bits, length - SHORTEST_MATCH - (1 << bits), bits);
        }
        close(block, COMPRESSED);
    }

    /// The sequences of a block. Their distance is given where it is not the last one: as bits behind the codes.
    private void sequences(int count, int literals, int distance, int lengthCode, int length, int lengthBits) {
        putCount(count);
        put(SAME_CODES, 1);
        put(literals, 1);
        int offset = distance + 3;
        int offsetBits = lastDistance == distance ? 0 : 31 - Integer.numberOfLeadingZeros(offset);
        put(offsetBits, 1);
        put(lengthCode, 1);
        // Read from its end, which is marked by a one.
        long stream = 1;
        for (int i = 0; i < count && offsetBits + lengthBits > 0; i++) {
            stream = (stream << offsetBits) | (offset - (1L << offsetBits));
            stream = (stream << lengthBits) | length;
        }
        put(stream, (71 - Long.numberOfLeadingZeros(stream)) / 8);
        lastDistance = distance;
    }

    private void putCount(int sequences) {
        if (sequences < 128) {
            put(sequences, 1);
        } else if (sequences < 0x7F00) {
            put((sequences >> 8) | 0x80, 1);
            put(sequences, 1);
        } else {
            put(0xFF, 1);
            put(sequences - 0x7F00, 2);
        }
    }

    private void repeatByte(byte value, int length) {
        if (value == 0) {
            zeros(length);
            return;
        }
        endZeros();
        repeatedByte(value, length);
    }

    private void endZeros() {
        int length = zeros;
        zeros = 0;
        repeatedByte((byte) 0, length);
    }

    private void repeatedByte(byte value, int length) {
        for (int left = length; left > 0; left -= BLOCK) {
            reserve(8);
            lastBlock = size;
            put((Math.min(left, BLOCK) << 3) | (REPEATED_BYTE << 1), 3);
            put(value, 1);
        }
    }

    private int open(int contents) {
        endZeros();
        reserve(contents + 64);
        size += 3;
        return size - 3;
    }

    private void close(int block, int type) {
        int end = size;
        size = block;
        put(((end - block - 3) << 3) | (type << 1), 3);
        size = end;
        lastBlock = block;
    }

    private static int run(long[] words, int from, int end) {
        int at = from + 1;
        while (at < end && words[at] == words[from]) {
            at++;
        }
        return at - from;
    }

    private static boolean isOneByte(long word) {
        return word == (word & 0xFF) * 0x0101010101010101L;
    }

    private void put(long value, int count) {
        long rest = value;
        for (int b = 0; b < count; b++) {
            bytes[size++] = (byte) rest;
            rest >>>= 8;
        }
    }

    private void reserve(int count) {
        if (bytes.length - size < count) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + count));
        }
    }
}
