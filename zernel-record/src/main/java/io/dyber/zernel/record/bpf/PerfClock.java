package io.dyber.zernel.record.bpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// A clock of one CPU that ticks while the CPU is not idle, as perf_event_open(2) has it.
final class PerfClock {
    private static final int SIZE = 128; // struct perf_event_attr
    private static final int PERF_TYPE_SOFTWARE = 1;
    private static final int PERF_COUNT_SW_CPU_CLOCK = 0;

    private PerfClock() {}

    /// Opens it.
    ///
    /// @return its descriptor
    /// @throws BpfException when this is not allowed
    static int open(int cpu, long periodNanos) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(SIZE, Long.BYTES);
            attributes.set(JAVA_INT, 0, PERF_TYPE_SOFTWARE);
            attributes.set(JAVA_INT, 4, SIZE);
            attributes.set(JAVA_LONG, 8, PERF_COUNT_SW_CPU_CLOCK);
            attributes.set(JAVA_LONG, 16, periodNanos);
            int fd = Libc.perfEventOpen(attributes, cpu);
            if (fd < 0) {
                throw BpfException.refused("opening a clock of CPU " + cpu, -fd, "");
            }
            return fd;
        }
    }
}
