package io.dyber.zernel.format;

import java.util.Arrays;

/// Decodes the ZSTD frames of a journal, which are of few forms: one segment, its length in four bytes; blocks that are raw, a
/// repeated byte, or raw literals with sequences that all have the same codes. A frame of another form is refused.
///
/// ZSTD's own library would be one more to ship and 20 ms to load for whoever only opens a recording.
final class ZstdFrame {
    private static final int MAGIC = 0xFD2FB528;
    private static final int DESCRIPTOR = 0xA0;
    private static final int RAW = 0;
    private static final int REPEATED_BYTE = 1;
    private static final int COMPRESSED = 2;
    private static final int SAME_CODES = 0x54;
    private static final int RAW_LITERALS = 0xC;
    private static final int MOST_LITERALS = 15;
    private static final int MOST_OFFSET_BITS = 8;
    /// The first of the codes of match lengths that are followed by bits.
    private static final int FIRST_LENGTH = 32;
    private static final int[] LENGTHS = {35, 37, 39, 41, 43, 47, 51, 59, 67, 83, 99};
    private static final int[] LENGTH_BITS = {1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5};
    private static final int FIRST_POWER = FIRST_LENGTH + LENGTHS.length;
    private static final int POWER_CODE = 36;
    private static final int LAST_LENGTH = 52;

    private final byte[] source;
    private final int end;
    private final byte[] target;
    private final int targetEnd;
    private int at;
    private int written;
    private int distance;
    private long bits;
    private int bitsLeft;

    private ZstdFrame(byte[] source, int from, int length, byte[] target, int targetFrom, int targetLength) {
        this.source = source;
        this.at = from;
        this.end = from + length;
        this.target = target;
        this.written = targetFrom;
        this.targetEnd = targetFrom + targetLength;
    }

    /// Fills a stretch of `target` with what the frame in a stretch of `source` holds.
    ///
    /// @throws RuntimeException when that is not exactly so much, or no frame of a journal
    static void decode(byte[] source, int from, int length, byte[] target, int targetFrom, int targetLength) {
        new ZstdFrame(source, from, length, target, targetFrom, targetLength).decode();
    }

    private void decode() {
        int start = written;
        check(take(4) == MAGIC && take(1) == DESCRIPTOR && take(4) == targetEnd - start);
        boolean last = false;
        while (!last) {
            int head = take(3);
            last = (head & 1) != 0;
            block(head >> 1 & 3, head >>> 3, start);
        }
        check(at == end && written == targetEnd);
    }

    private void block(int type, int size, int start) {
        switch (type) {
            case RAW -> literals(size);
            case REPEATED_BYTE -> {
                check(size <= targetEnd - written);
                Arrays.fill(target, written, written + size, (byte) take(1));
                written += size;
            }
            case COMPRESSED -> {
                check(size <= end - at);
                sequences(at + size, start);
            }
            default -> check(false);
        }
    }

    private void sequences(int blockEnd, int start) {
        int head = take(3);
        int literals = head >>> 4;
        check((head & 0xF) == RAW_LITERALS && literals <= blockEnd - at);
        int codes = at + literals;
        int literal = at;
        at = codes;
        int count = count();
        check(take(1) == SAME_CODES);
        int run = take(1);
        int offsetCode = take(1);
        int lengthCode = take(1);
        check(run <= MOST_LITERALS && lengthCode <= LAST_LENGTH && offsetCode <= MOST_OFFSET_BITS);
        bits(blockEnd);
        at = literal;
        for (int i = 0; i < count; i++) {
            check(run <= codes - at);
            literals(run);
            copy(match(run, offsetCode, lengthCode), start);
        }
        check(bitsLeft == 0);
        literals(codes - at);
        at = blockEnd;
    }

    /// Bits are read from their end, which is marked by a one.
    private void bits(int blockEnd) {
        check(at < blockEnd && blockEnd - at <= Integer.BYTES);
        bits = Integer.toUnsignedLong(take(blockEnd - at));
        check(bits > 0);
        bitsLeft = 63 - Long.numberOfLeadingZeros(bits);
    }

    private int next(int count) {
        check(count <= bitsLeft);
        bitsLeft -= count;
        return (int) (bits >> bitsLeft) & ((1 << count) - 1);
    }

    /// The length of the next match, and takes in its distance.
    private int match(int run, int offsetCode, int lengthCode) {
        if (offsetCode == 0) {
            check(run > 0);
        } else {
            distance = (1 << offsetCode) + next(offsetCode) - 3;
        }
        check(distance > 0);
        if (lengthCode < FIRST_LENGTH) {
            return lengthCode + 3;
        }
        if (lengthCode < FIRST_POWER) {
            return LENGTHS[lengthCode - FIRST_LENGTH] + next(LENGTH_BITS[lengthCode - FIRST_LENGTH]);
        }
        int power = lengthCode - POWER_CODE;
        return (1 << power) + 3 + next(power);
    }

    private int count() {
        int first = take(1);
        if (first < 128) {
            return first;
        }
        return first < 255 ? ((first - 128) << 8) + take(1) : take(2) + 0x7F00;
    }

    private void literals(int length) {
        check(length <= end - at && length <= targetEnd - written);
        System.arraycopy(source, at, target, written, length);
        at += length;
        written += length;
    }

    private void copy(int length, int start) {
        check(length <= targetEnd - written && distance <= written - start);
        for (int i = 0; i < length; i++) {
            target[written] = target[written - distance];
            written++;
        }
    }

    private int take(int count) {
        check(count <= end - at);
        int value = 0;
        for (int b = 0; b < count; b++) {
            value |= (source[at++] & 0xFF) << (8 * b);
        }
        return value;
    }

    private static void check(boolean sound) {
        if (!sound) {
            throw new IllegalArgumentException("no frame of a journal");
        }
    }
}
