package io.dyber.zernel.serve.metric;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/// What the panels of the Grafana dashboard ask Prometheus, for the jobs, instances, ranks and GPUs that its variables choose.
final class GrafanaQueries {
    private GrafanaQueries() {}

    /// The series of a metric that are chosen.
    ///
    /// @param more conditions: `phase="data_loading"`
    static String chosen(Metric metric, String... more) {
        return metric.name() + selector(metric, more);
    }

    private static String selector(Metric metric, String... more) {
        List<String> conditions = new ArrayList<>(List.of("job=~\"$job\"", "instance=~\"$instance\""));
        if (metric.allLabels().contains(Metric.RANK)) {
            conditions.add("rank=~\"$rank\"");
        }
        if (metric.labels().contains("gpu_id")) {
            conditions.add("gpu_id=~\"$gpu\"");
        }
        conditions.addAll(Arrays.asList(more));
        return "{" + String.join(",", conditions) + "}";
    }

    /// How fast a counter counts.
    static String rate(Metric counter) {
        return "rate(" + chosen(counter) + "[$__rate_interval])";
    }

    /// Of a summary, or where the server has `--histograms`, of the buckets.
    static String quantile(Metric summary, String quantile) {
        return chosen(summary, "quantile=\"" + quantile + "\"") + " or histogram_quantile(" + quantile + ", rate("
                + summary.name() + "_bucket" + selector(summary) + "[$__rate_interval]))";
    }

    /// Shares of each phase in the time of all that are chosen, which add up to 1 however many these are.
    static String phases(Metric metric) {
        String series = metric.type() == Metric.Type.COUNTER ? rate(metric) : chosen(metric);
        return "sum by (phase) (" + series + ") / scalar(sum(" + series + "))";
    }

    /// Says who a series is.
    static String legend(Metric metric) {
        return "{{instance}} " + metric.allLabels().stream()
                .map(label -> switch (label) {
                    case Metric.RANK, "pid" -> label + " {{" + label + "}}";
                    case "gpu_id" -> "GPU {{gpu_id}}";
                    default -> "{{" + label + "}}";
                })
                .collect(Collectors.joining(" "));
    }
}
