package io.dyber.zernel.record.attach;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/// What became of a file that processes map as code (`enum code_state` of `bpf/loads.bpf.h`).
public enum CodeState {
    /// No probe means it.
    UNWANTED(1),
    /// Probed before any process had loaded it; to be told when one does.
    PROBED(2),
    /// Probed, and it is known that it was loaded.
    LOADED(3);

    static final int MOST_STEMS = 64;
    static final int LONGEST_STEM = 31;

    private final int number;

    CodeState(int number) {
        this.number = number;
    }

    int number() {
        return number;
    }

    /// `struct code_key` of a file as `/proc/PID/maps` has it.
    static byte[] key(String identity) {
        String[] parts = identity.split(":");
        int device = Integer.parseInt(parts[0], 16) << 20 | Integer.parseInt(parts[1], 16);
        return ByteBuffer.allocate(16)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(Long.parseUnsignedLong(parts[2]))
                .putInt(device)
                .array();
    }

    /// `struct stem`.
    static byte[] stem(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int length = Math.min(bytes.length, LONGEST_STEM);
        return ByteBuffer.allocate(1 + LONGEST_STEM).put((byte) length).put(bytes, 0, length).array();
    }
}
