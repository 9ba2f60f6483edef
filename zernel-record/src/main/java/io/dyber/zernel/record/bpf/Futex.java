package io.dyber.zernel.record.bpf;

import java.lang.foreign.MemorySegment;

/// A word in memory that several processes share, on which others sleep until it changes.
public final class Futex {
    private Futex() {}

    /// Wakes all who sleep on it.
    public static void wake(MemorySegment word) {
        Libc.futexWake(word);
    }
}
