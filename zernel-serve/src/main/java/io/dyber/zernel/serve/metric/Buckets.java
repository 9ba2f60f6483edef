package io.dyber.zernel.serve.metric;

import java.util.Arrays;
import java.util.List;

/// The bounds of the buckets in which durations are counted for histograms: 10 us to 100 s in steps of 1, 2 and 5. They are
/// the same for all metrics, ranks and machines, so that counts can be added.
public final class Buckets {
    /// As a label says them: canonical numbers of OpenMetrics, in seconds, and the last without a bound.
    public static final List<String> LABELS = List.of(
            "1e-05", "2e-05", "5e-05", "0.0001", "0.0002", "0.0005", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1",
            "0.2", "0.5", "1.0", "2.0", "5.0", "10.0", "20.0", "50.0", "100.0", "+Inf");

    /// Those that are numbers, in seconds.
    public static final List<Double> BOUNDS = LABELS.stream()
            .filter(label -> !label.equals("+Inf"))
            .map(Double::valueOf)
            .toList();

    private static final long[] BOUNDS_NANOS =
            BOUNDS.stream().mapToLong(bound -> Math.round(bound * 1e9)).toArray();

    private Buckets() {}

    /// The first bucket whose bound is not below a duration, which counts in it.
    public static int of(long nanos) {
        int found = Arrays.binarySearch(BOUNDS_NANOS, nanos);
        return found >= 0 ? found : -found - 1;
    }
}
