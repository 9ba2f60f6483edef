package io.dyber.zernel.record.bpf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;

/// A BPF map, most with 4-byte keys, seen from user space. Owned by its object. Thread-safe as the kernel is.
public final class BpfMap {
    private static final int MOST_KEYS = 1 << 20;

    private final int fd;

    BpfMap(int fd) {
        this.fd = fd;
    }

    int fd() {
        return fd;
    }

    public void put(int key, byte[] value) {
        try (Arena arena = Arena.ofConfined()) {
            LibBpf.update(fd, Native.ints(arena, key), arena.allocateFrom(JAVA_BYTE, value));
        }
    }

    /// The same for a map whose keys are longer.
    public void put(byte[] key, byte[] value) {
        try (Arena arena = Arena.ofConfined()) {
            LibBpf.update(fd, arena.allocateFrom(JAVA_BYTE, key), arena.allocateFrom(JAVA_BYTE, value));
        }
    }

    /// A key that is not there is no error.
    public void remove(int key) {
        try (Arena arena = Arena.ofConfined()) {
            LibBpf.delete(fd, Native.ints(arena, key));
        }
    }

    /// The keys at this moment. Keys that come or go meanwhile may be missing or twice.
    public Set<Integer> keys() {
        Set<Integer> keys = new LinkedHashSet<>();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment key = MemorySegment.NULL;
            MemorySegment next = arena.allocate(JAVA_INT);
            while (LibBpf.nextKey(fd, key, next) && keys.size() < MOST_KEYS) {
                keys.add(next.get(JAVA_INT, 0));
                key = next;
            }
        }
        return keys;
    }

    /// The 64-bit counters of a per-CPU array element, summed over the CPUs; empty when there is no such element.
    public Optional<long[]> sumPerCpu(int key, int counters) {
        int cpus = LibBpf.possibleCpus();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment values = arena.allocate(ValueLayout.JAVA_LONG, (long) counters * cpus);
            if (!LibBpf.lookup(fd, arena.allocateFrom(JAVA_INT, key), values)) {
                return Optional.empty();
            }
            long[] sums = new long[counters];
            for (int i = 0; i < counters * cpus; i++) {
                sums[i % counters] += values.getAtIndex(ValueLayout.JAVA_LONG, i);
            }
            return Optional.of(sums);
        }
    }
}
