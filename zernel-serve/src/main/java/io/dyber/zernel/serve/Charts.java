package io.dyber.zernel.serve;

import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/// What the page draws over time, since the first event: a point each second of event time, and when there are too many,
/// every other is forgotten and points come half as often.
final class Charts {
    private static final int POINTS = 600;
    private static final int PROCESSES = 16;
    private static final long SECOND_NANOS = 1_000_000_000L;

    private final List<Point> points = new ArrayList<>();
    private long stepNanos = SECOND_NANOS;
    private long dueNanos = Long.MIN_VALUE;

    /// The values of all lines at one moment.
    ///
    /// @param t event time, milliseconds since the epoch
    /// @param values by the names that the page's charts know; times in milliseconds
    record Point(long t, Map<String, Double> values) {}

    /// What `/api/charts` answers.
    record All(List<Point> points) {}

    /// Hears each second of event time.
    synchronized void second(LiveMetrics.View view) {
        if (view.nowNanos() < dueNanos) {
            return;
        }
        points.add(point(view));
        if (points.size() == POINTS) {
            for (int i = POINTS - 2; i >= 0; i -= 2) {
                points.remove(i);
            }
            stepNanos *= 2;
        }
        dueNanos = view.nowNanos() + stepNanos;
    }

    synchronized void startOver() {
        points.clear();
        stepNanos = SECOND_NANOS;
        dueNanos = Long.MIN_VALUE;
    }

    synchronized All all() {
        return new All(List.copyOf(points));
    }

    static Point point(LiveMetrics.View view) {
        Map<String, Double> values = new HashMap<>();
        Set<String> shown = busiest(view);
        for (Metric metric : List.of(Metrics.STEP, Metrics.DATALOADER_WAIT, Metrics.CUDA_LAUNCH)) {
            add(view, metric, 0.5, "p50", shown, values);
            add(view, metric, 0.99, "p99", shown, values);
        }
        view.quantiles(Metrics.NCCL, 0.99, (labels, seconds) -> {
            if (Double.isFinite(seconds)) {
                values.merge("nccl " + labels.getFirst(), seconds * 1e3, Math::max);
            }
        });
        view.numbers(Metrics.PHASE_RATIO, (labels, share) -> {
            if (shown.contains(labels.getFirst())) {
                values.put(labels.getLast() + " " + labels.getFirst(), share);
            }
        });
        view.numbers(Metrics.GPU_MEMORY_USED, (labels, bytes) -> {
            if (shown.isEmpty() || shown.contains(labels.getFirst())) {
                values.put("memory " + String.join(":", labels), bytes);
            }
        });
        return new Point(view.nowNanos() / 1_000_000, values);
    }

    private static void add(LiveMetrics.View view, Metric metric, double quantile, String name, Set<String> shown,
            Map<String, Double> values) {
        view.quantiles(metric, quantile, (labels, seconds) -> {
            if (Double.isFinite(seconds) && shown.contains(labels.getFirst())) {
                values.put(metric.name() + " " + name + " " + labels.getFirst(), seconds * 1e3);
            }
        });
    }

    /// The labels of the processes with most steps.
    private static Set<String> busiest(LiveMetrics.View view) {
        return view.series().numbers(Metrics.STEPS).entrySet().stream()
                .sorted(Comparator.comparingDouble(entry -> -entry.getValue().value()))
                .limit(PROCESSES)
                .map(entry -> entry.getKey().getFirst())
                .collect(Collectors.toSet());
    }
}
