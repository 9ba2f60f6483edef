package io.dyber.zernel.record.bpf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashSet;
import java.util.Set;

/// The mapped `targets` of `bpf/zernel.bpf.h`: a byte for every possible process, and one for every block of them that was
/// ever used. BPF programs add and remove too.
public final class PidSet implements AutoCloseable {
    private static final int BLOCK = 4096;
    private static final int BLOCKS = 1024;

    private final Arena arena;
    private final MemorySegment bytes;

    private PidSet(Arena arena, MemorySegment bytes) {
        this.arena = arena;
        this.bytes = bytes;
    }

    /// Maps the table.
    public static PidSet map(BpfMap map) {
        Arena arena = Arena.ofShared();
        try {
            long size = (BLOCKS + 1L) * BLOCK;
            return new PidSet(arena, Libc.map(map.fd(), 0, size, Libc.PROT_READ | Libc.PROT_WRITE, arena));
        } catch (RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    public void add(int pid) {
        bytes.set(JAVA_BYTE, pid, (byte) 1);
        bytes.set(JAVA_BYTE, (long) BLOCKS * BLOCK + pid / BLOCK, (byte) 1);
    }

    public void remove(int pid) {
        bytes.set(JAVA_BYTE, pid, (byte) 0);
    }

    /// The processes in it at this moment, in ascending order.
    public Set<Integer> pids() {
        Set<Integer> pids = new LinkedHashSet<>();
        // Asked for many times a second: a segment's bytes one by one would take a hundred times as long.
        byte[] used = bytes.asSlice((long) BLOCKS * BLOCK, BLOCKS).toArray(JAVA_BYTE);
        for (int block = 0; block < BLOCKS; block++) {
            if (used[block] != 0) {
                addPids(block, pids);
            }
        }
        return pids;
    }

    private void addPids(int block, Set<Integer> pids) {
        long[] words = bytes.asSlice((long) block * BLOCK, BLOCK).toArray(JAVA_LONG);
        for (int word = 0; word < words.length; word++) {
            for (int b = 0; words[word] != 0 && b < Long.BYTES; b++) {
                int pid = block * BLOCK + word * Long.BYTES + b;
                if (bytes.get(JAVA_BYTE, pid) != 0) {
                    pids.add(pid);
                }
            }
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
