package io.dyber.zernel.serve.live;

import java.util.ArrayDeque;
import java.util.Deque;
import org.HdrHistogram.IntCountsHistogram;

/// The durations of the last 10 s and of the last minute, in slices of 2 s of event time: a window has the slice that is
/// not over yet and the whole ones before it, so it covers up to 2 s more than it is called.
///
/// Not thread-safe.
final class RecentDurations {
    private static final long SLICE_NANOS = 2_000_000_000L;
    private static final int TEN_SECONDS = 5;
    private static final int MINUTE = 30;

    private final QuantileCounts tenSeconds = counts();
    private final QuantileCounts minute = counts();
    private final QuantileCounts current = counts();
    private final Deque<Slice> slices = new ArrayDeque<>();
    private long number;

    /// What a slice that is over has: values and how often, in turns, which is much less than a histogram of them.
    private static final class Slice {
        final long number;
        private final long[] valuesAndCounts;

        Slice(long number, QuantileCounts counts) {
            this.number = number;
            this.valuesAndCounts = counts.valuesAndCounts();
        }

        /// @param sign 1, or -1 to take it back
        void addTo(QuantileCounts counts, int sign) {
            for (int i = 0; i < valuesAndCounts.length; i += 2) {
                counts.record(valuesAndCounts[i], sign * valuesAndCounts[i + 1]);
            }
        }
    }

    /// Adds a value at the event time `atNanos`; one of a slice that is over counts for the current one.
    void record(long value, long atNanos) {
        moveTo(atNanos);
        tenSeconds.record(value, 1);
        minute.record(value, 1);
        current.record(value, 1);
    }

    QuantileCounts tenSeconds() {
        return tenSeconds;
    }

    QuantileCounts minute() {
        return minute;
    }

    /// Forgets what is too old at the event time `nowNanos`.
    void moveTo(long nowNanos) {
        long now = nowNanos / SLICE_NANOS;
        if (now <= number) {
            return;
        }
        if (current.total() > 0) {
            slices.addLast(new Slice(number, current));
            current.clear();
        }
        long before = number;
        number = now;
        for (Slice slice : slices) {
            if (slice.number >= before - TEN_SECONDS && slice.number < now - TEN_SECONDS) {
                slice.addTo(tenSeconds, -1);
            }
            if (slice.number < now - MINUTE) {
                slice.addTo(minute, -1);
            }
        }
        slices.removeIf(slice -> slice.number < now - MINUTE);
    }

    /// Adds everything `other` holds.
    void add(RecentDurations other) {
        moveTo(other.number * SLICE_NANOS);
        other.moveTo(number * SLICE_NANOS);
        slices.addAll(other.slices);
        current.add(other.current);
        refill(tenSeconds, TEN_SECONDS);
        refill(minute, MINUTE);
    }

    private void refill(QuantileCounts window, int length) {
        window.clear();
        for (Slice slice : slices) {
            if (slice.number >= number - length) {
                slice.addTo(window, 1);
            }
        }
        window.add(current);
    }

    private static QuantileCounts counts() {
        return new QuantileCounts(new IntCountsHistogram(Durations.DIGITS));
    }
}
