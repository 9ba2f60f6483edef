package io.dyber.zernel.serve;

import org.HdrHistogram.Histogram;

/// Durations of one series: count and sum since the start, quantiles since the start and over about the last minute.
///
/// Within 1 % of exact. Not thread-safe.
final class Durations {
    private static final int DIGITS = 2;
    private static final long HALF_WINDOW_NANOS = 30_000_000_000L;

    private final Histogram sinceStart = new Histogram(DIGITS);
    /// Two overlapping histograms: this one covers the current half minute and the one before,
    private Histogram lastMinute = new Histogram(DIGITS);
    /// and this one only the current half minute; it takes over when that is over.
    private Histogram lastHalfMinute = new Histogram(DIGITS);
    private long half;
    private long sumNanos;

    Durations() {
        sinceStart.setAutoResize(true);
        lastMinute.setAutoResize(true);
        lastHalfMinute.setAutoResize(true);
    }

    /// Adds a duration that was measured at the event time `atNanos`.
    void record(long nanos, long atNanos) {
        long value = Math.max(0, nanos);
        moveTo(atNanos);
        sinceStart.recordValue(value);
        lastMinute.recordValue(value);
        lastHalfMinute.recordValue(value);
        sumNanos += value;
    }

    long count() {
        return sinceStart.getTotalCount();
    }

    double sumSeconds() {
        return sumNanos / 1e9;
    }

    /// A quantile of the last 30 to 60 s before the event time `nowNanos`, in seconds; NaN when nothing was recorded.
    double recentSeconds(double quantile, long nowNanos) {
        moveTo(nowNanos);
        return seconds(lastMinute, quantile);
    }

    /// A quantile of everything, in seconds; NaN when nothing was recorded.
    double totalSeconds(double quantile) {
        return seconds(sinceStart, quantile);
    }

    /// Adds everything `other` holds.
    void add(Durations other) {
        moveTo(other.half * HALF_WINDOW_NANOS);
        other.moveTo(half * HALF_WINDOW_NANOS);
        sinceStart.add(other.sinceStart);
        lastMinute.add(other.lastMinute);
        lastHalfMinute.add(other.lastHalfMinute);
        sumNanos += other.sumNanos;
    }

    private void moveTo(long atNanos) {
        long now = atNanos / HALF_WINDOW_NANOS;
        if (now <= half) {
            return;
        }
        Histogram reused = lastMinute;
        lastMinute = lastHalfMinute;
        lastHalfMinute = reused;
        lastHalfMinute.reset();
        if (now > half + 1) {
            lastMinute.reset();
        }
        half = now;
    }

    private static double seconds(Histogram histogram, double quantile) {
        if (histogram.getTotalCount() == 0) {
            return Double.NaN;
        }
        return histogram.medianEquivalentValue(histogram.getValueAtPercentile(quantile * 100)) / 1e9;
    }
}
