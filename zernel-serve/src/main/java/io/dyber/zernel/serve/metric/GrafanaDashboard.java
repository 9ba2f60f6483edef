package io.dyber.zernel.serve.metric;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/// Writes a dashboard of Grafana with a row for each subject and a panel for each metric.
public final class GrafanaDashboard {
    private static final JsonMapper JSON =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();
    private static final Map<String, Object> SOURCE = Map.of("type", "prometheus", "uid", "${datasource}");
    private static final Map<String, String> UNITS = Map.of(
            "seconds", "s", "bytes", "bytes", "ratio", "percentunit", "watts", "watt", "joules", "joule",
            "celsius", "celsius", "hertz", "hertz", "bytes_per_second", "Bps");
    private static final Map<String, String> UNITS_OF_RATES =
            Map.of("bytes", "Bps", "joules", "watt", "seconds", "percentunit");
    private static final int WIDTH = 8;
    private static final int COLUMNS = 24 / WIDTH;
    private static final int HEIGHT = 8;

    private final List<Map<String, Object>> panels = new ArrayList<>();
    private int top;

    private GrafanaDashboard() {}

    /// JSON to import in Grafana 10 or newer.
    public static String json() {
        GrafanaDashboard dashboard = new GrafanaDashboard();
        Metrics.GROUPS.forEach(dashboard::addRow);
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("uid", "zernel");
        json.put("title", "Zernel");
        json.put("tags", List.of("zernel"));
        json.put("schemaVersion", 39);
        json.put("editable", true);
        json.put("refresh", "5s");
        json.put("time", Map.of("from", "now-15m", "to", "now"));
        json.put("templating", Map.of("list", List.of(
                Map.of("name", "datasource", "label", "Data source", "type", "datasource", "query", "prometheus"))));
        json.put("panels", dashboard.panels);
        return JSON.writeValueAsString(json) + "\n";
    }

    private void addRow(Metrics.Group group) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("id", panels.size() + 1);
        row.put("type", "row");
        row.put("title", group.title());
        row.put("collapsed", false);
        row.put("gridPos", Map.of("x", 0, "y", top, "w", 24, "h", 1));
        row.put("panels", List.of());
        panels.add(row);
        top++;
        for (int i = 0; i < group.metrics().size(); i++) {
            panels.add(panel(group.metrics().get(i), i % COLUMNS * WIDTH, top + i / COLUMNS * HEIGHT));
        }
        top += (group.metrics().size() + COLUMNS - 1) / COLUMNS * HEIGHT;
    }

    private Map<String, Object> panel(Metric metric, int x, int y) {
        boolean parts = metric.labels().contains("phase");
        Map<String, Object> custom = Map.of(
                "fillOpacity", parts ? 60 : 0, "stacking", Map.of("mode", parts ? "normal" : "none"));
        Map<String, Object> panel = new LinkedHashMap<>();
        panel.put("id", panels.size() + 1);
        panel.put("type", "timeseries");
        panel.put("title", metric.name());
        panel.put("description", metric.help());
        panel.put("datasource", SOURCE);
        panel.put("gridPos", Map.of("x", x, "y", y, "w", WIDTH, "h", HEIGHT));
        panel.put("fieldConfig", Map.of(
                "defaults", Map.of("unit", unit(metric), "custom", custom), "overrides", List.of()));
        panel.put("options", Map.of("legend", Map.of("displayMode", "list", "placement", "bottom")));
        panel.put("targets", targets(metric));
        return panel;
    }

    private static String unit(Metric metric) {
        Map<String, String> units = metric.type() == Metric.Type.COUNTER ? UNITS_OF_RATES : UNITS;
        return units.getOrDefault(metric.unit(), metric.type() == Metric.Type.COUNTER ? "ops" : "short");
    }

    private static List<Map<String, Object>> targets(Metric metric) {
        return switch (metric.type()) {
            case GAUGE -> List.of(target("A", metric.name(), legend(metric)));
            case COUNTER -> List.of(target("A", "rate(" + metric.name() + "[$__rate_interval])", legend(metric)));
            case SUMMARY -> {
                List<Map<String, Object>> targets = new ArrayList<>();
                for (String quantile : Metrics.QUANTILES) {
                    targets.add(target(
                            String.valueOf((char) ('A' + targets.size())),
                            metric.name() + "{quantile=\"" + quantile + "\"}",
                            (legend(metric) + " p" + (quantile + "0").substring(2, 4)).strip()));
                }
                yield targets;
            }
        };
    }

    private static Map<String, Object> target(String id, String expression, String legend) {
        Map<String, Object> target = new LinkedHashMap<>();
        target.put("refId", id);
        target.put("datasource", SOURCE);
        target.put("expr", expression);
        target.put("legendFormat", legend);
        return target;
    }

    private static String legend(Metric metric) {
        return metric.labels().stream().map(label -> "{{" + label + "}}").collect(Collectors.joining(" "));
    }
}
