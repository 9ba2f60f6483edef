package io.dyber.zernel.serve.metric;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// One panel of the Grafana dashboard while it is made.
final class GrafanaPanel {
    static final Map<String, Object> SOURCE = Map.of("type", "prometheus", "uid", "${datasource}");

    private final String type;
    private final String title;
    private final String description;
    private final int width;
    private final int height;
    private final Map<String, Object> defaults = new LinkedHashMap<>();
    private final Map<String, Object> options = new LinkedHashMap<>();
    private final Map<String, Object> others = new LinkedHashMap<>();
    private final List<Map<String, Object>> targets = new ArrayList<>();

    /// @param width of 24 columns
    private GrafanaPanel(String type, String title, String description, int width, int height) {
        this.type = type;
        this.title = title;
        this.description = description;
        this.width = width;
        this.height = height;
        defaults.put("custom", Map.of());
    }

    /// Lines over time.
    static GrafanaPanel lines(String title, String description, int width, int height) {
        GrafanaPanel panel = new GrafanaPanel("timeseries", title, description, width, height);
        panel.options.put("legend", Map.of("displayMode", "list", "placement", "bottom"));
        return panel.drawn(0, "none");
    }

    /// The latest value as a number.
    static GrafanaPanel number(String title, String description, int width, int height) {
        GrafanaPanel panel = new GrafanaPanel("stat", title, description, width, height);
        panel.options.put("reduceOptions", Map.of("calcs", List.of("lastNotNull")));
        panel.options.put("textMode", "value_and_name");
        panel.options.put("graphMode", "none");
        return panel;
    }

    /// A line for each series, whose cells over time have the colour of their value.
    static GrafanaPanel heatMap(String title, String description, int width, int height) {
        GrafanaPanel panel = new GrafanaPanel("status-history", title, description, width, height);
        panel.defaults.put("color", Map.of("mode", "continuous-GrYlRd"));
        panel.defaults.put("custom", Map.of("fillOpacity", 90, "lineWidth", 0));
        panel.options.put("showValue", "never");
        panel.options.put("legend", Map.of("displayMode", "list", "placement", "bottom"));
        panel.others.put("maxDataPoints", 100);
        return panel;
    }

    /// Labels and latest values as a table.
    ///
    /// @param value what the column of values is called; empty where they say nothing
    static GrafanaPanel table(String title, String description, int width, int height, String value) {
        GrafanaPanel panel = new GrafanaPanel("table", title, description, width, height);
        Map<String, Object> hidden = new LinkedHashMap<>(Map.of("Time", true, "__name__", true));
        if (value.isEmpty()) {
            hidden.put("Value", true);
        } else {
            panel.options.put("sortBy", List.of(Map.of("displayName", value, "desc", true)));
        }
        panel.others.put("transformations", List.of(Map.of("id", "organize", "options",
                Map.of("excludeByName", hidden, "renameByName", value.isEmpty() ? Map.of() : Map.of("Value", value)))));
        return panel;
    }

    /// Areas on one another, to a whole of 1.
    GrafanaPanel stacked() {
        defaults.put("min", 0);
        defaults.put("max", 1);
        return drawn(60, "normal");
    }

    private GrafanaPanel drawn(int fillOpacity, String stacking) {
        defaults.put("custom", Map.of("fillOpacity", fillOpacity, "stacking", Map.of("mode", stacking)));
        return this;
    }

    GrafanaPanel unit(String unit) {
        defaults.put("unit", unit);
        return this;
    }

    /// Adds a query.
    GrafanaPanel asks(String expression, String legend) {
        Map<String, Object> target = new LinkedHashMap<>();
        target.put("refId", String.valueOf((char) ('A' + targets.size())));
        target.put("datasource", SOURCE);
        target.put("expr", expression);
        target.put("legendFormat", legend);
        if (!type.equals("timeseries") && !type.equals("status-history")) {
            target.put("instant", true);
            target.put("format", type.equals("table") ? "table" : "time_series");
        }
        targets.add(target);
        return this;
    }

    int width() {
        return width;
    }

    int height() {
        return height;
    }

    Map<String, Object> json(int id, int x, int y) {
        Map<String, Object> panel = new LinkedHashMap<>();
        panel.put("id", id);
        panel.put("type", type);
        panel.put("title", title);
        panel.put("description", description);
        panel.put("datasource", SOURCE);
        panel.put("gridPos", Map.of("x", x, "y", y, "w", width, "h", height));
        panel.put("fieldConfig", Map.of("defaults", defaults, "overrides", List.of()));
        panel.put("options", options);
        panel.put("targets", targets);
        panel.putAll(others);
        return panel;
    }
}
