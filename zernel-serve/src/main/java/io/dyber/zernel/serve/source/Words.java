package io.dyber.zernel.serve.source;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.apache.arrow.memory.ArrowBuf;

/// Turns UTF-8 into strings and remembers them: a recording says the same few again and again. Of two that fall on the
/// same slot the later one stays.
///
/// Not thread-safe.
final class Words {
    private static final int SLOTS = 1 << 12;

    private final byte[][] keys = new byte[SLOTS][0];
    private final String[] words = new String[SLOTS];
    private byte[] buffer = new byte[64];

    Words() {
        Arrays.fill(words, "");
    }

    /// The text in the bytes `from` to `to` of `data`.
    String at(ArrowBuf data, long from, long to) {
        int length = Math.toIntExact(to - from);
        if (length > buffer.length) {
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
        int hash = length;
        for (int i = 0; i < length; i++) {
            hash = 31 * hash + buffer[i];
        }
        return (hash ^ hash >>> 15) & (SLOTS - 1);
    }
}
