package io.dyber.zernel.serve.watch;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/// The latest values of the timings of each process, one for each snapshot: the largest, where a process has several of a
/// metric, as of NCCL's operations.
///
/// Not thread-safe.
final class SnapshotHistory {
    private static final int SNAPSHOTS = 240;
    private static final int SERIES = 512;

    private double eventTime;
    private final Map<String, Deque<Double>> series = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Deque<Double>> eldest) {
            return size() > SERIES;
        }
    };

    /// Takes the part `zernel` of a snapshot. Time that went back means that a replay started over.
    void add(JsonNode more) {
        double now = more.path("event_time_ms").asDouble(0);
        if (now < eventTime) {
            series.clear();
        }
        eventTime = now;
        Map<String, Double> largest = new LinkedHashMap<>();
        for (JsonNode timing : more.path("timings")) {
            String key = key(timing.path("metric").asString(""), timing.at("/labels/pid").asString(""));
            for (String quantile : new String[] {"p50_ms", "p99_ms"}) {
                largest.merge(key + quantile, timing.path(quantile).asDouble(Double.NaN), SnapshotHistory::larger);
            }
        }
        largest.forEach((key, value) -> {
            Deque<Double> values = series.computeIfAbsent(key, _ -> new ArrayDeque<>());
            values.addLast(value);
            if (values.size() > SNAPSHOTS) {
                values.removeFirst();
            }
        });
    }

    private static double larger(double one, double other) {
        return Double.isNaN(one) || other > one ? other : one;
    }

    /// Oldest first; empty for a series that there is not.
    Deque<Double> of(String metric, String pid, String quantile) {
        return series.getOrDefault(key(metric, pid) + quantile, new ArrayDeque<>());
    }

    private static String key(String metric, String pid) {
        return metric + " " + pid + " ";
    }
}
