package io.dyber.zernel.serve.metric;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Writes the tables of docs/metrics.md from the list.
final class MetricsReference {
    private MetricsReference() {}

    /// All that there are.
    static List<Metrics.Group> groups() {
        return Stream.concat(Metrics.GROUPS.stream(), Stream.of(FleetMetrics.GROUP)).toList();
    }

    /// Markdown: a table for each subject, then one of the labels.
    static String markdown(List<Metrics.Group> groups, Map<String, String> labels) {
        StringBuilder page = new StringBuilder();
        for (Metrics.Group group : groups) {
            page.append("### ").append(group.title()).append("\n\n| metric | type | labels | what it is | from |\n");
            page.append("|---|---|---|---|---|\n");
            group.metrics().forEach(metric -> page.append(row(metric)));
            page.append('\n');
        }
        page.append("### Labels\n\n| label | value |\n|---|---|\n");
        labels.entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .forEach(label -> page.append("| `").append(label.getKey()).append("` | ")
                        .append(label.getValue()).append(" |\n"));
        return page.toString();
    }

    /// The line of one metric.
    static String row(Metric metric) {
        return "| `" + metric.name() + "` | " + metric.type().name().toLowerCase(Locale.ROOT) + " | "
                + code(metric.allLabels()) + " | " + metric.help() + " | " + source(metric) + " |\n";
    }

    private static String source(Metric metric) {
        Metric.Feed feed = metric.feed();
        if (feed == null) {
            return "";
        }
        if (feed.kind().equals("*")) {
            return "all events";
        }
        return "`" + feed.kind() + "`" + (feed.names().equals("*") ? "" : " `" + feed.names() + "`");
    }

    private static String code(List<String> labels) {
        return labels.stream().map(label -> "`" + label + "`").collect(Collectors.joining(", "));
    }
}
