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
                .anyMatch(expression -> expression.contains(metric.name() + "{")));
        assertThat(expressions)
                .contains(
                        "zernel_gpu_power_watts{job=~\"$job\",instance=~\"$instance\",gpu_id=~\"$gpu\"}",
                        "rate(zernel_steps_total{job=~\"$job\",instance=~\"$instance\",rank=~\"$rank\"}[$__rate_interval])",
                        "zernel_step_seconds{job=~\"$job\",instance=~\"$instance\",rank=~\"$rank\",quantile=\"0.99\"} or "
                                + "histogram_quantile(0.99, rate(zernel_step_seconds_bucket"
                                + "{job=~\"$job\",instance=~\"$instance\",rank=~\"$rank\"}[$__rate_interval]))");
    }

    @Test
    void theOverviewBeginsWithTheVerdict() {
        assertThat(dashboard.at("/panels/0/title").asString()).isEqualTo("Overview");
        assertThat(dashboard.at("/panels/1/title").asString()).isEqualTo("Verdict");
        assertThat(dashboard.at("/panels/1/targets/0/expr").asString()).startsWith("topk(5, zernel_finding_lost_seconds{");
        assertThat(titles("status-history")).containsExactly("Step time by rank", "Late at collectives by rank");
    }

    @Test
    void legendsSayWho() {
        dashboard.path("panels").forEach(panel -> {
            boolean lines = panel.path("type").asString().equals("timeseries");
            panel.path("targets").forEach(target -> {
                String legend = target.path("legendFormat").asString();
                if (lines && !target.path("expr").asString().startsWith("sum by (phase)")) {
                    assertThat(legend).as("%s", panel.path("title")).startsWith("{{instance}}");
                }
            });
        });
        assertThat(panel("zernel_step_age_seconds").at("/targets/0/legendFormat").asString())
                .isEqualTo("{{instance}} pid {{pid}} rank {{rank}}");
        assertThat(panel("zernel_gpu_power_watts").at("/targets/0/legendFormat").asString())
                .isEqualTo("{{instance}} GPU {{gpu_id}}");
    }

    @Test
    void whatIsStackedIsSharesOfOneWhole() {
        List<String> stacked = new ArrayList<>();
        dashboard.path("panels").forEach(panel -> {
            if (panel.at("/fieldConfig/defaults/custom/stacking/mode").asString("none").equals("normal")) {
                stacked.add(panel.path("title").asString());
                assertThat(panel.at("/targets/0/expr").asString()).matches("sum by \\(phase\\) \\((.*)\\) / scalar\\(sum\\(\\1\\)\\)");
                assertThat(panel.at("/fieldConfig/defaults/max").asInt()).isEqualTo(1);
            }
        });
        assertThat(stacked).containsExactly("What steps are spent on", "zernel_phase_seconds_total", "zernel_phase_ratio");
    }

    @Test
    void jobInstanceRankAndGpuAreChosen() {
        JsonNode variables = dashboard.at("/templating/list");
        assertThat(variables.valueStream().map(variable -> variable.path("name").asString()))
                .containsExactly("datasource", "job", "instance", "rank", "gpu");
        assertThat(variables.valueStream().skip(1)).allSatisfy(variable -> {
            assertThat(variable.path("allValue").asString()).isEqualTo(".*");
            assertThat(variable.path("definition").asString()).isEqualTo(variable.at("/query/query").asString());
        });
        assertThat(variables.at("/3/definition").asString())
                .isEqualTo("label_values(zernel_process_info{job=~\"$job\",instance=~\"$instance\"}, rank)");
    }

    @Test
    void findingsAndAlertsAreMarked() {
        assertThat(dashboard.at("/annotations/list").valueStream().map(one -> one.path("name").asString()))
                .containsExactly("Findings", "Alerts");
        assertThat(dashboard.at("/annotations/list/1/expr").asString()).isEqualTo(
                "zernel_alerts{job=~\"$job\",instance=~\"$instance\",alertstate=\"firing\"} > 0");
    }

    private List<String> titles(String type) {
        return dashboard.path("panels").valueStream()
                .filter(panel -> panel.path("type").asString().equals(type))
                .map(panel -> panel.path("title").asString())
                .toList();
    }

    private JsonNode panel(String title) {
        return dashboard.path("panels").valueStream()
                .filter(panel -> panel.path("title").asString().equals(title))
                .findFirst()
                .orElseThrow();
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
        int overview = 1 + GrafanaOverview.panels().size();
        assertThat(ids).doesNotHaveDuplicates().hasSize(overview + Metrics.ALL.size() + Metrics.GROUPS.size());
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
                assertThat(panel.propertyNames()).contains("id", "type", "title", "description", "datasource", "gridPos",
                        "fieldConfig", "options", "targets");
                assertThat(List.of("id", "type", "title", "description", "datasource", "gridPos", "fieldConfig", "options",
                                "targets", "maxDataPoints", "transformations"))
                        .containsAll(panel.propertyNames());
                assertThat(panel.path("datasource").propertyNames()).containsExactlyInAnyOrder("type", "uid");
                assertThat(panel.path("fieldConfig").propertyNames()).containsExactlyInAnyOrder("defaults", "overrides");
                assertThat(panel.at("/fieldConfig/defaults").propertyNames()).contains("unit", "custom");
                assertThat(List.of("unit", "custom", "min", "max", "color"))
                        .containsAll(panel.at("/fieldConfig/defaults").propertyNames());
            }
        });
        dashboard.at("/templating/list").forEach(variable -> assertThat(variable.path("type").asString())
                .isIn("query", "adhoc", "constant", "datasource", "interval", "textbox", "custom", "system"));
    }
}
