package io.dyber.zernel.serve;

import io.dyber.zernel.serve.live.Family;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.metric.Buckets;
import io.dyber.zernel.serve.metric.CommonLabels;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Writes the series as Prometheus reads them. Families without a series are left out.
final class Exposition {
    private final StringBuilder text = new StringBuilder(1 << 20);
    private final Format format;
    private final CommonLabels common;

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

    private Exposition(Format format, CommonLabels common) {
        this.format = format;
        this.common = common;
    }

    static String of(LiveMetrics.View view, Format format) {
        return of(Family.all(view), view.policy().labels(), format);
    }

    /// @param common labels of all series
    static String of(Stream<Family> families, CommonLabels common, Format format) {
        Exposition exposition = new Exposition(format, common);
        families.forEach(exposition::family);
        if (format == Format.OPEN_METRICS) {
            exposition.text.append("# EOF\n");
        }
        return exposition.text.toString();
    }

    private void family(Family family) {
        Metric metric = family.metric();
        boolean open = format == Format.OPEN_METRICS;
        String name = open ? metric.stem() : metric.name();
        text.append("# HELP ").append(name).append(' ');
        text.append(open ? metric.help().replace("\"", "\\\"") : metric.help()).append('\n');
        text.append("# TYPE ").append(name).append(' ').append(type(family)).append('\n');
        if (open && !metric.unit().isEmpty()) {
            text.append("# UNIT ").append(name).append(' ').append(metric.unit()).append('\n');
        }
        family.series().forEach(series -> series(metric.name(), series));
    }

    private String type(Family family) {
        if (family.series().getFirst() instanceof Family.Histogram) {
            return "histogram";
        }
        Metric.Type type = family.metric().type();
        return format == Format.OPEN_METRICS && type == Metric.Type.INFO ? "info" : type.label();
    }

    private void series(String name, Family.Series series) {
        String labels = labels(series.labels());
        switch (series) {
            case Family.Value one -> line(name, "", labels).append(one.value()).append('\n');
            case Family.Summary summary -> {
                quantiles(name, labels, summary);
                countAndSum(name, labels, summary.count(), summary.sumSeconds());
            }
            case Family.Histogram histogram -> {
                buckets(name, labels, histogram);
                countAndSum(name, labels, histogram.count(), histogram.sumSeconds());
            }
        }
    }

    private void buckets(String name, String labels, Family.Histogram histogram) {
        for (int i = 0; i < Buckets.LABELS.size(); i++) {
            line(name, "_bucket", with(labels, "le", Buckets.LABELS.get(i)))
                    .append(histogram.cumulated().get(i)).append('\n');
        }
    }

    private void quantiles(String name, String labels, Family.Summary summary) {
        for (int i = 0; i < Metrics.QUANTILES.size(); i++) {
            line(name, "", with(labels, "quantile", Metrics.QUANTILES.get(i)))
                    .append(summary.quantileSeconds().get(i)).append('\n');
        }
    }

    private void countAndSum(String name, String labels, long count, double sumSeconds) {
        line(name, "_count", labels).append(count).append('\n');
        line(name, "_sum", labels).append(sumSeconds).append('\n');
    }

    /// The line up to its value.
    private StringBuilder line(String name, String suffix, String labels) {
        text.append(name).append(suffix);
        if (!labels.isEmpty()) {
            text.append('{').append(labels).append('}');
        }
        return text.append(' ');
    }

    private String labels(Map<String, String> own) {
        StringBuilder labels = new StringBuilder();
        common.with(own).forEach((name, value) -> labels.append(labels.isEmpty() ? "" : ",")
                .append(name).append("=\"").append(escaped(value)).append('"'));
        return labels.toString();
    }

    private static String with(String labels, String name, String value) {
        return (labels.isEmpty() ? "" : labels + ",") + name + "=\"" + value + "\"";
    }

    private static String escaped(String value) {
        return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }
}
