package io.dyber.zernel.serve.metric;

import static io.dyber.zernel.serve.metric.GrafanaQueries.chosen;
import static io.dyber.zernel.serve.metric.GrafanaQueries.legend;
import static io.dyber.zernel.serve.metric.GrafanaQueries.quantile;
import static io.dyber.zernel.serve.metric.GrafanaQueries.rate;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/// Writes a dashboard of Grafana: an overview, then a row for each subject and a panel for each metric, of the jobs,
/// instances, ranks and GPUs that are chosen; with findings and alerts marked in all of them.
public final class GrafanaDashboard {
    private static final JsonMapper JSON =
            JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();
    private static final Map<String, String> UNITS = Map.of(
            "seconds", "s", "bytes", "bytes", "ratio", "percentunit", "watts", "watt", "joules", "joule",
            "celsius", "celsius", "hertz", "hertz", "bytes_per_second", "Bps");
    private static final Map<String, String> UNITS_OF_RATES =
            Map.of("bytes", "Bps", "joules", "watt", "seconds", "percentunit");
    private static final int COLUMNS = 24;
    private static final int WIDTH = 8;
    private static final int HEIGHT = 8;

    private final List<Map<String, Object>> panels = new ArrayList<>();
    private int top;

    private GrafanaDashboard() {}

    /// JSON to import in Grafana 10 or newer.
    public static String json() {
        GrafanaDashboard dashboard = new GrafanaDashboard();
        dashboard.addRow("Overview", GrafanaOverview.panels());
        Metrics.GROUPS.forEach(group ->
                dashboard.addRow(group.title(), group.metrics().stream().map(GrafanaDashboard::panel).toList()));
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("uid", "zernel");
        json.put("title", "Zernel");
        json.put("tags", List.of("zernel"));
        json.put("schemaVersion", 39);
        json.put("editable", true);
        json.put("refresh", "5s");
        json.put("time", Map.of("from", "now-15m", "to", "now"));
        json.put("templating", Map.of("list", GrafanaChoices.variables()));
        json.put("annotations", Map.of("list", GrafanaChoices.annotations()));
        json.put("panels", dashboard.panels);
        return JSON.writeValueAsString(json) + "\n";
    }

    /// Adds a row and its panels from left to right, those of a line with one height.
    private void addRow(String title, List<GrafanaPanel> content) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("id", panels.size() + 1);
        row.put("type", "row");
        row.put("title", title);
        row.put("collapsed", false);
        row.put("gridPos", Map.of("x", 0, "y", top, "w", COLUMNS, "h", 1));
        row.put("panels", List.of());
        panels.add(row);
        top++;
        int x = 0;
        int height = 0;
        for (GrafanaPanel panel : content) {
            if (x + panel.width() > COLUMNS) {
                top += height;
                x = 0;
            }
            panels.add(panel.json(panels.size() + 1, x, top));
            x += panel.width();
            height = panel.height();
        }
        top += height;
    }

    private static GrafanaPanel panel(Metric metric) {
        if (metric.type() == Metric.Type.INFO) {
            return GrafanaPanel.table(metric.name(), metric.help(), WIDTH, HEIGHT, "").unit("short").asks(chosen(metric), "");
        }
        GrafanaPanel panel = GrafanaPanel.lines(metric.name(), metric.help(), WIDTH, HEIGHT).unit(unit(metric));
        if (metric.labels().contains("phase")) {
            return panel.stacked().asks(GrafanaQueries.phases(metric), "{{phase}}");
        }
        switch (metric.type()) {
            case GAUGE, INFO -> panel.asks(chosen(metric), legend(metric));
            case COUNTER -> panel.asks(rate(metric), legend(metric));
            case SUMMARY -> Metrics.QUANTILES.forEach(quantile -> panel.asks(
                    quantile(metric, quantile), legend(metric) + " p" + (quantile + "0").substring(2, 4)));
        }
        return panel;
    }

    private static String unit(Metric metric) {
        Map<String, String> units = metric.type() == Metric.Type.COUNTER ? UNITS_OF_RATES : UNITS;
        return units.getOrDefault(metric.unit(), metric.type() == Metric.Type.COUNTER ? "ops" : "short");
    }
}
