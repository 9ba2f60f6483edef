package io.dyber.zernel.record.bpf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

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
        for (int block = 0; block < BLOCKS; block++) {
            if (bytes.get(JAVA_BYTE, (long) BLOCKS * BLOCK + block) != 0) {
                for (int pid = block * BLOCK; pid < (block + 1) * BLOCK; pid++) {
                    if (bytes.get(JAVA_BYTE, pid) != 0) {
                        pids.add(pid);
                    }
                }
            }
        }
        return pids;
    }

    @Override
    public void close() {
        arena.close();
    }
}
