package io.dyber.zernel.serve;

import io.dyber.zernel.serve.live.Durations.Window;
import io.dyber.zernel.serve.live.Durations;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/// Writes the series as Prometheus reads them. Families without a series are left out.
final class Exposition {
    private static final List<Double> QUANTILES =
            Metrics.QUANTILES.stream().map(Double::valueOf).toList();

    private final StringBuilder text = new StringBuilder(1 << 20);
    private final Format format;

    /// The ways to write them.
    enum Format {
        TEXT("text/plain; version=0.0.4; charset=utf-8"),
        OPEN_METRICS("application/openmetrics-text; version=1.0.0; charset=utf-8");

        private final String contentType;

        Format(String contentType) {
            this.contentType = contentType;
        }

        String contentType() {
            return contentType;
        }

        /// What a client with this header `Accept` is given.
        static Format of(@Nullable String accept) {
            return accept != null && accept.contains("application/openmetrics-text") ? OPEN_METRICS : TEXT;
        }
    }

    private Exposition(Format format) {
        this.format = format;
    }

    static String of(LiveMetrics.View view, Format format) {
        Exposition exposition = new Exposition(format);
        for (Metric metric : Metrics.ALL) {
            exposition.family(metric, view);
        }
        if (format == Format.OPEN_METRICS) {
            exposition.text.append("# EOF\n");
        }
        return exposition.text.toString();
    }

    private void family(Metric metric, LiveMetrics.View view) {
        if (view.series().numbers(metric).isEmpty() && view.series().durations(metric).isEmpty()) {
            return;
        }
        boolean open = format == Format.OPEN_METRICS;
        String name = open ? metric.stem() : metric.name();
        text.append("# HELP ").append(name).append(' ');
        text.append(open ? metric.help().replace("\"", "\\\"") : metric.help()).append('\n');
        text.append("# TYPE ").append(name).append(' ').append(metric.type().name().toLowerCase(Locale.ROOT));
        text.append('\n');
        if (open && !metric.unit().isEmpty()) {
            text.append("# UNIT ").append(name).append(' ').append(metric.unit()).append('\n');
        }
        view.series().numbers(metric).forEach((values, sum) ->
                line(metric.name(), "", labels(metric, values)).append(sum.value()).append('\n'));
        view.series().durations(metric).forEach((values, durations) -> summary(metric, values, durations, view));
    }

    private void summary(Metric metric, List<String> values, Durations durations, LiveMetrics.View view) {
        String labels = labels(metric, values);
        for (int i = 0; i < QUANTILES.size(); i++) {
            String quantile = "quantile=\"" + Metrics.QUANTILES.get(i) + "\"";
            line(metric.name(), "", labels.isEmpty() ? quantile : labels + "," + quantile)
                    .append(durations.seconds(Window.MINUTE, QUANTILES.get(i), view.nowNanos()))
                    .append('\n');
        }
        line(metric.name(), "_count", labels).append(durations.count()).append('\n');
        line(metric.name(), "_sum", labels).append(durations.sumSeconds()).append('\n');
    }

    /// The line up to its value.
    private StringBuilder line(String name, String suffix, String labels) {
        text.append(name).append(suffix);
        if (!labels.isEmpty()) {
            text.append('{').append(labels).append('}');
        }
        return text.append(' ');
    }

    private static String labels(Metric metric, List<String> values) {
        StringBuilder labels = new StringBuilder();
        for (int i = 0; i < values.size(); i++) {
            labels.append(i == 0 ? "" : ",").append(metric.labels().get(i)).append("=\"");
            labels.append(escaped(values.get(i))).append('"');
        }
        return labels.toString();
    }

    private static String escaped(String value) {
        return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }
}
