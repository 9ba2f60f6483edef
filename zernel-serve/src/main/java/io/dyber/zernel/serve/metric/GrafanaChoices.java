package io.dyber.zernel.serve.metric;

import static io.dyber.zernel.serve.metric.GrafanaQueries.chosen;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// What the viewer of the Grafana dashboard chooses: variables, and what is marked in all panels.
final class GrafanaChoices {
    private static final String CHOSEN_JOB = "{job=~\"$job\"}";
    private static final String CHOSEN_INSTANCE = "{job=~\"$job\",instance=~\"$instance\"}";

    private GrafanaChoices() {}

    static List<Map<String, Object>> variables() {
        return List.of(
                Map.of("name", "datasource", "label", "Data source", "type", "datasource", "query", "prometheus"),
                variable("job", "Job", "label_values(" + Metrics.BUILD_INFO.name() + ", job)"),
                variable("instance", "Instance", "label_values(" + Metrics.BUILD_INFO.name() + CHOSEN_JOB + ", instance)"),
                variable("rank", "Rank", "label_values(" + Metrics.PROCESS_INFO.name() + CHOSEN_INSTANCE + ", rank)"),
                variable("gpu", "GPU", "label_values(" + Metrics.GPU_UTILIZATION.name() + CHOSEN_INSTANCE + ", gpu_id)"));
    }

    /// All of them are chosen at first, also series that have no such label.
    private static Map<String, Object> variable(String name, String label, String query) {
        Map<String, Object> variable = new LinkedHashMap<>();
        variable.put("name", name);
        variable.put("label", label);
        variable.put("type", "query");
        variable.put("datasource", GrafanaPanel.SOURCE);
        variable.put("query", Map.of("query", query, "refId", name));
        variable.put("definition", query);
        variable.put("refresh", 2);
        variable.put("sort", 3);
        variable.put("multi", true);
        variable.put("includeAll", true);
        variable.put("allValue", ".*");
        variable.put("current", Map.of("selected", true, "text", List.of("All"), "value", List.of("$__all")));
        return variable;
    }

    static List<Map<String, Object>> annotations() {
        String finding = chosen(Metrics.FINDING_INFO);
        return List.of(
                annotation("Findings", "orange", finding + " unless " + finding + " offset 1m",
                        "{{finding}}", "{{title}} ({{subject}}), {{instance}}"),
                annotation("Alerts", "red", chosen(Metrics.ALERTS, "alertstate=\"firing\"") + " > 0",
                        "{{alertname}}", "{{alertname}} ({{severity}}), {{instance}}"));
    }

    private static Map<String, Object> annotation(
            String name, String color, String expression, String title, String text) {
        Map<String, Object> annotation = new LinkedHashMap<>();
        annotation.put("name", name);
        annotation.put("datasource", GrafanaPanel.SOURCE);
        annotation.put("enable", true);
        annotation.put("iconColor", color);
        annotation.put("expr", expression);
        annotation.put("step", "15s");
        annotation.put("titleFormat", title);
        annotation.put("textFormat", text);
        annotation.put("tagKeys", "severity");
        return annotation;
    }
}
