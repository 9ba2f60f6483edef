package io.dyber.zernel.serve;

import io.dyber.zernel.serve.live.Durations;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/// What `/api/percentiles` answers: each series of durations with its percentiles in each window.
final class PercentilesPage {
    private static final int VERSION = 1;
    private static final JsonMapper JSON = new JsonMapper();
    private static final Map<String, Double> PERCENTILES = new LinkedHashMap<>();

    static {
        PERCENTILES.put("p50_ms", 0.5);
        PERCENTILES.put("p90_ms", 0.9);
        PERCENTILES.put("p99_ms", 0.99);
        PERCENTILES.put("p99_9_ms", 0.999);
    }

    private PercentilesPage() {}

    static String json(LiveMetrics.View view) {
        List<Map<String, Object>> series = new ArrayList<>();
        for (Metric metric : Metrics.ALL) {
            view.series().durations(metric).forEach((values, durations) -> {
                Map<String, Object> one = new LinkedHashMap<>();
                one.put("metric", metric.name());
                one.put("labels", view.labels(metric, values));
                for (Durations.Window window : Durations.Window.values()) {
                    one.put(window.label(), percentiles(durations, window, view.nowNanos()));
                }
                series.add(one);
            });
        }
        return JSON.writeValueAsString(Map.of("version", VERSION, "series", series));
    }

    private static Map<String, @Nullable Object> percentiles(
            Durations durations, Durations.Window window, long nowNanos) {
        Map<String, @Nullable Object> percentiles = new LinkedHashMap<>();
        percentiles.put("count", durations.count(window, nowNanos));
        PERCENTILES.forEach((name, quantile) -> {
            double seconds = durations.seconds(window, quantile, nowNanos);
            percentiles.put(name, Double.isNaN(seconds) ? null : seconds * 1e3);
        });
        return percentiles;
    }
}
