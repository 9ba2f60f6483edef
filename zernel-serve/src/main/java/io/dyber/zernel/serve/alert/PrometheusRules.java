package io.dyber.zernel.serve.alert;

import tools.jackson.databind.json.JsonMapper;

/// Writes the rules as a rule file of Prometheus.
public final class PrometheusRules {
    private static final JsonMapper JSON = new JsonMapper();

    private PrometheusRules() {}

    /// YAML; texts are quoted as in JSON, which YAML reads.
    ///
    /// @param histograms whether the server shows durations as histograms
    public static String yaml(AlertRules rules, boolean histograms) {
        StringBuilder yaml = new StringBuilder("groups:\n  - name: zernel\n    rules:\n");
        for (AlertRule rule : rules.rules()) {
            yaml.append("      - alert: ").append(quoted(rule.name()))
                    .append("\n        expr: ").append(quoted(histograms ? rule.histogramExpression() : rule.expression()))
                    .append("\n        for: ").append(rule.holdFor().toMillis()).append("ms")
                    .append("\n        labels:\n          severity: ").append(rule.severity().label())
                    .append("\n        annotations:\n          summary: ").append(quoted(rule.summary()))
                    .append('\n');
        }
        return yaml.toString();
    }

    private static String quoted(String text) {
        return JSON.writeValueAsString(text);
    }
}
