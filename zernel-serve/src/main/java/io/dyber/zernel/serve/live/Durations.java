package io.dyber.zernel.serve.live;

import io.dyber.zernel.serve.metric.Buckets;
import java.util.Arrays;
import org.HdrHistogram.Histogram;

/// Durations of one series: count and sum since the start, quantiles since the start and of the latest time, and
/// exact counts for histograms.
///
/// Quantiles are within 1 % of exact. Memory is bounded whatever is recorded. Not thread-safe.
public final class Durations {
    /// Two significant digits: neighbours that are told apart differ by less than 0.8 %.
    static final int DIGITS = 2;

    private final QuantileCounts sinceStart = new QuantileCounts(new Histogram(DIGITS));
    private final RecentDurations recent = new RecentDurations();
    private final long[] buckets = new long[Buckets.LABELS.size()];
    private long sumNanos;

    /// The stretches of time that quantiles are about.
    public enum Window {
        TEN_SECONDS("10s"),
        MINUTE("1m"),
        START("start");

        private final String label;

        Window(String label) {
            this.label = label;
        }

        public String label() {
            return label;
        }
    }

    /// Adds a duration that was measured at the event time `atNanos`.
    void record(long nanos, long atNanos) {
        long value = Math.max(0, nanos);
        recent.record(value, atNanos);
        sinceStart.record(value, 1);
        buckets[Buckets.of(value)]++;
        sumNanos += value;
    }

    public long count() {
        return sinceStart.total();
    }

    public double sumSeconds() {
        return sumNanos / 1e9;
    }

    /// How many since the start were at most so long as the bound of each of [Buckets#LABELS]; the last is all.
    public long[] cumulatedBuckets() {
        long[] cumulated = buckets.clone();
        Arrays.parallelPrefix(cumulated, Long::sum);
        return cumulated;
    }

    /// How many were recorded in the window that ends at the event time `nowNanos`.
    public long count(Window window, long nowNanos) {
        return counts(window, nowNanos).total();
    }

    /// A quantile of the window that ends at the event time `nowNanos`, in seconds; NaN when it has nothing.
    public double seconds(Window window, double quantile, long nowNanos) {
        return counts(window, nowNanos).quantile(quantile) / 1e9;
    }

    /// Adds everything `other` holds.
    void add(Durations other) {
        sinceStart.add(other.sinceStart);
        recent.add(other.recent);
        Arrays.setAll(buckets, bucket -> buckets[bucket] + other.buckets[bucket]);
        sumNanos += other.sumNanos;
    }

    private QuantileCounts counts(Window window, long nowNanos) {
        recent.moveTo(nowNanos);
        return switch (window) {
            case TEN_SECONDS -> recent.tenSeconds();
            case MINUTE -> recent.minute();
            case START -> sinceStart;
        };
    }
}
