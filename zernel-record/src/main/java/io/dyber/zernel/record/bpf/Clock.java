package io.dyber.zernel.record.bpf;

/// The offset between the kernel's event clock (CLOCK_MONOTONIC) and the time of day, fixed once per recording.
///
/// @param offsetNanos to add to CLOCK_MONOTONIC for nanoseconds since the epoch
/// @param errorNanos how far off the offset can be, from how long the reading took
public record Clock(long offsetNanos, long errorNanos) {
    private static final int REALTIME = 0;
    private static final int MONOTONIC = 1;
    private static final int BOOTTIME = 7;
    private static final int TRIES = 16;

    /// Reads both clocks several times and keeps the tightest reading.
    public static Clock read() {
        Clock best = new Clock(0, Long.MAX_VALUE);
        for (int i = 0; i < TRIES; i++) {
            long before = Libc.clock(MONOTONIC);
            long wall = Libc.clock(REALTIME);
            long after = Libc.clock(MONOTONIC);
            if ((after - before + 1) / 2 < best.errorNanos) {
                best = new Clock(wall - (before + (after - before) / 2), (after - before + 1) / 2);
            }
        }
        return best;
    }

    /// Time since boot, with the time asleep.
    public static long bootNanos() {
        return Libc.clock(BOOTTIME);
    }

    /// CLOCK_MONOTONIC now, as the events have it.
    public static long monotonicNanos() {
        return Libc.clock(MONOTONIC);
    }
}
