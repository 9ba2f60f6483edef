package io.dyber.zernel.record.bpf;

/// The offset between the kernel's event clock (CLOCK_MONOTONIC) and the time of day, fixed once per recording.
///
/// @param offsetNanos to add to CLOCK_MONOTONIC for nanoseconds since the epoch
/// @param errorNanos how far off the offset can be, from how long the reading took
/// @param asleepNanos for which the machine had been suspended since it was booted
public record Clock(long offsetNanos, long errorNanos, long asleepNanos) {
    private static final int REALTIME = 0;
    private static final int MONOTONIC = 1;
    private static final int BOOTTIME = 7;
    private static final int TRIES = 16;

    /// Where the time comes from: the machine, or what a test makes of it.
    @FunctionalInterface
    public interface Source {
        Source MACHINE = Libc::clock;

        /// The time of a clock, by its `clockid_t`.
        long nanos(int clock);
    }

    /// How far the other clocks have gone away from that of the events since this one was read.
    ///
    /// @param wallNanos by which the time of day was set or corrected, forward or back
    /// @param asleepNanos for which the machine was suspended
    public record Drift(long wallNanos, long asleepNanos) {}

    /// Reads the clocks several times and keeps the tightest reading.
    public static Clock read(Source source) {
        Clock best = new Clock(0, Long.MAX_VALUE, 0);
        for (int i = 0; i < TRIES; i++) {
            long before = source.nanos(MONOTONIC);
            long wall = source.nanos(REALTIME);
            long boot = source.nanos(BOOTTIME);
            long after = source.nanos(MONOTONIC);
            if ((after - before + 1) / 2 < best.errorNanos) {
                long middle = before + (after - before) / 2;
                best = new Clock(wall - middle, (after - before + 1) / 2, boot - middle);
            }
        }
        return best;
    }

    /// What has happened to the other clocks by now.
    public Drift drift(Source source) {
        Clock now = read(source);
        long asleep = now.asleepNanos - asleepNanos;
        return new Drift(now.offsetNanos - offsetNanos - asleep, asleep);
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
