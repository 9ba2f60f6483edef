package io.dyber.zernel.serve.live;

import java.util.Arrays;
import java.util.stream.LongStream;
import org.HdrHistogram.AbstractHistogram;

/// Counts of durations and their quantiles: a histogram, and beside it a count for each power of two, so that a quantile
/// is found by looking at some dozens of counts instead of thousands.
///
/// Not thread-safe.
final class QuantileCounts {
    private final AbstractHistogram values;
    /// By how many bits a value has.
    private final long[] octaves = new long[Long.SIZE];

    /// @param values empty; resized here
    QuantileCounts(AbstractHistogram values) {
        this.values = values;
        values.setAutoResize(true);
    }

    /// @param value not negative
    /// @param times negative to take back what was recorded
    void record(long value, long times) {
        values.recordValueWithCount(value, times);
        octaves[bits(value)] += times;
    }

    long total() {
        return values.getTotalCount();
    }

    /// The value that so large a share of all are not above, or NaN where there are none.
    double quantile(double share) {
        long wanted = Math.max(1, (long) Math.ceil(Math.nextDown(share) * total()));
        long seen = 0;
        for (int bits = 0; bits < octaves.length; bits++) {
            if (seen + octaves[bits] >= wanted) {
                return within(octave(bits), wanted - seen);
            }
            seen += octaves[bits];
        }
        return Double.NaN;
    }

    private double within(long octave, long wanted) {
        long value = octave;
        long seen = values.getCountAtValue(value);
        while (seen < wanted) {
            value = values.nextNonEquivalentValue(value);
            seen += values.getCountAtValue(value);
        }
        return values.medianEquivalentValue(value);
    }

    void add(QuantileCounts other) {
        values.add(other.values);
        for (int bits = 0; bits < octaves.length; bits++) {
            octaves[bits] += other.octaves[bits];
        }
    }

    void clear() {
        values.reset();
        Arrays.fill(octaves, 0);
    }

    /// Every value and how often it was recorded, in turns.
    long[] valuesAndCounts() {
        LongStream.Builder pairs = LongStream.builder();
        for (int bits = 0; bits < octaves.length; bits++) {
            long left = octaves[bits];
            for (long value = octave(bits); left > 0; value = values.nextNonEquivalentValue(value)) {
                long count = values.getCountAtValue(value);
                left -= count;
                if (count > 0) {
                    pairs.add(value).add(count);
                }
            }
        }
        return pairs.build().toArray();
    }

    /// The smallest value with so many bits.
    private static long octave(int bits) {
        return bits == 0 ? 0 : 1L << (bits - 1);
    }

    private static int bits(long value) {
        return Long.SIZE - Long.numberOfLeadingZeros(value);
    }
}
