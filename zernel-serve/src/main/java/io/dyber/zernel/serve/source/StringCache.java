package io.dyber.zernel.serve.source;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.arrow.memory.ArrowBuf;

/// Turns UTF-8 into strings and remembers them: a recording says the same few again and again. Of two that fall on the
/// same slot the later one stays.
///
/// Not thread-safe.
final class StringCache {
    private static final int SLOT_BITS = 12;
    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

    private final byte[][] keys = new byte[1 << SLOT_BITS][0];
    private final String[] words = new String[1 << SLOT_BITS];
    private byte[] buffer = new byte[64];

    StringCache() {
        Arrays.fill(words, "");
    }

    /// The text in the bytes `from` to `to` of `data`.
    String at(ArrowBuf data, long from, long to) {
        int length = Math.toIntExact(to - from);
        if (length + Long.BYTES > buffer.length) {
            buffer = new byte[length * 2];
        }
        data.getBytes(from, buffer, 0, length);
        int slot = slot(length);
        if (!Arrays.equals(keys[slot], 0, keys[slot].length, buffer, 0, length)) {
            keys[slot] = Arrays.copyOf(buffer, length);
            words[slot] = new String(buffer, 0, length, StandardCharsets.UTF_8);
        }
        return words[slot];
    }

    private int slot(int length) {
        long hash = length;
        for (int at = 0; at < length; at += Long.BYTES) {
            hash = (hash ^ ((long) LONGS.get(buffer, at) & mask(length - at))) * 0x9E3779B97F4A7C15L;
        }
        return (int) (hash >>> (Long.SIZE - SLOT_BITS));
    }

    /// So many of the first bytes of a long.
    private static long mask(int bytes) {
        return bytes >= Long.BYTES ? -1 : (1L << (8 * bytes)) - 1;
    }
}
