package io.dyber.zernel.serve.metric;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class GrafanaDashboardTest {
    private final JsonNode dashboard = new JsonMapper().readTree(GrafanaDashboard.json());

    @Test
    void everyMetricHasAPanelThatAsksForIt() {
        List<String> expressions = new ArrayList<>();
        dashboard.path("panels").forEach(panel -> panel.path("targets")
                .forEach(target -> expressions.add(target.path("expr").asString())));
        assertThat(Metrics.ALL).allSatisfy(metric -> assertThat(expressions)
                .anyMatch(expression -> expression.matches("(rate\\()?" + metric.name() + "([{\\[].*)?")));
        assertThat(expressions)
                .contains(
                        "zernel_gpu_power_watts",
                        "rate(zernel_steps_total[$__rate_interval])",
                        "zernel_step_seconds{quantile=\"0.99\"}");
    }

    @Test
    void panelsHaveNumbersOfTheirOwnAndDoNotOverlap() {
        List<Integer> ids = new ArrayList<>();
        boolean[][] taken = new boolean[1000][24];
        dashboard.path("panels").forEach(panel -> {
            ids.add(panel.path("id").asInt());
            JsonNode place = panel.path("gridPos");
            for (int y = 0; y < place.path("h").asInt(); y++) {
                for (int x = 0; x < place.path("w").asInt(); x++) {
                    boolean[] line = taken[place.path("y").asInt() + y];
                    assertThat(line[place.path("x").asInt() + x]).as("%s", panel.path("title")).isFalse();
                    line[place.path("x").asInt() + x] = true;
                }
            }
        });
        assertThat(ids).doesNotHaveDuplicates().hasSize(Metrics.ALL.size() + Metrics.GROUPS.size());
    }

    @Test
    void itHasWhatGrafanaAsksOfADashboard() {
        assertThat(dashboard.path("title").asString()).isEqualTo("Zernel");
        assertThat(dashboard.path("schemaVersion").asInt()).isEqualTo(39);
        assertThat(dashboard.path("templating").path("list").path(0).path("type").asString()).isEqualTo("datasource");
        dashboard.path("panels").forEach(panel -> {
            assertThat(panel.propertyNames()).contains("id", "type", "title", "gridPos");
            panel.path("targets").forEach(
                    target -> assertThat(target.propertyNames()).contains("refId", "datasource", "expr"));
        });
    }

    /// As kinds/dashboard/dashboard_kind.cue of grafana/grafana says: its structures are closed, so a field that is spelt
    /// wrongly is an error there.
    @Test
    void itsFieldsAreThoseOfGrafanasSchema() {
        assertThat(List.of("uid", "title", "tags", "style", "timezone", "editable", "graphTooltip", "time", "timepicker",
                        "refresh", "schemaVersion", "version", "panels", "templating", "annotations", "links", "description"))
                .containsAll(dashboard.propertyNames());
        assertThat(dashboard.path("time").propertyNames()).containsExactlyInAnyOrder("from", "to");
        assertThat(dashboard.path("refresh").asString()).matches("\\d+[smhd]");
        dashboard.path("panels").forEach(panel -> {
            JsonNode place = panel.path("gridPos");
            assertThat(place.propertyNames()).containsExactlyInAnyOrder("h", "w", "x", "y");
            assertThat(place.path("h").asInt()).isPositive();
            assertThat(place.path("w").asInt()).isBetween(1, 24);
            assertThat(place.path("x").asInt()).isBetween(0, 23);
            if (panel.path("type").asString().equals("row")) {
                assertThat(panel.propertyNames())
                        .containsExactlyInAnyOrder("id", "type", "title", "collapsed", "gridPos", "panels");
                assertThat(panel.path("panels").isArray()).isTrue();
            } else {
                assertThat(panel.propertyNames()).containsExactlyInAnyOrder("id", "type", "title", "description",
                        "datasource", "gridPos", "fieldConfig", "options", "targets");
                assertThat(panel.path("datasource").propertyNames()).containsExactlyInAnyOrder("type", "uid");
                assertThat(panel.path("fieldConfig").propertyNames()).containsExactlyInAnyOrder("defaults", "overrides");
                assertThat(panel.at("/fieldConfig/defaults").propertyNames()).containsExactlyInAnyOrder("unit", "custom");
            }
        });
        dashboard.at("/templating/list").forEach(variable -> assertThat(variable.path("type").asString())
                .isIn("query", "adhoc", "constant", "datasource", "interval", "textbox", "custom", "system"));
    }
}
