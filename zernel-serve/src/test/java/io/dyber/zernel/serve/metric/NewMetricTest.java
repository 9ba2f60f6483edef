package io.dyber.zernel.serve.metric;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The recipe of CONTRIBUTING.md for a metric, followed with one that does not ship: what is said when a step is left out.
/// That an event feeds it, `ExpositionTest` tests.
class NewMetricTest {
    private static final Metric DUMMIES = dummies("zernel_dummies_total", Metric.Type.COUNTER, "mood");
    private static final Map<String, String> MOOD = Map.of("mood", "`calm` or `angry`");
    private static final String ROW = "| `zernel_dummies_total` | counter | `mood` | Dummies that were seen. |  |\n";

    private static Metric dummies(String name, Metric.Type type, String label) {
        return new Metric(name, type, "Dummies that were seen.", List.of(label), null);
    }

    /// The metrics that ship, and one more.
    private static List<String> breaches(Metric constant, List<Metric> listed, Map<String, String> labels, String row)
            throws IOException {
        MetricRules shipped = MetricRules.shipped(Files.readString(MetricsTest.PAGE));
        Map<String, Metric> constants = new HashMap<>(shipped.constants());
        constants.put("DUMMIES", constant);
        Map<String, String> allLabels = new HashMap<>(shipped.labels());
        allLabels.putAll(labels);
        List<Metrics.Group> groups =
                Stream.concat(shipped.groups().stream(), Stream.of(new Metrics.Group("Dummies", listed))).toList();
        return new MetricRules(constants, groups, allLabels, shipped.page() + row).breaches();
    }

    @Test
    void theWholeRecipeIsEnough() throws IOException {
        assertThat(breaches(DUMMIES, List.of(DUMMIES), MOOD, ROW)).isEmpty();
    }

    @Test
    void aConstantWithoutAPlaceIsNamed() throws IOException {
        assertThat(breaches(DUMMIES, List.of(), MOOD, ROW))
                .containsExactly("the constant DUMMIES has no place in Metrics.GROUPS");
    }

    @Test
    void aMetricThatIsListedTwiceIsNamed() throws IOException {
        assertThat(breaches(DUMMIES, List.of(DUMMIES, DUMMIES), MOOD, ROW))
                .containsExactly("zernel_dummies_total is there twice");
    }

    @Test
    void aMetricThatIsNoConstantIsNamed() throws IOException {
        assertThat(breaches(Metrics.STEPS, List.of(DUMMIES), MOOD, ROW))
                .containsExactly("zernel_dummies_total is no constant of Metrics");
    }

    @Test
    void aCounterThatDoesNotEndInTotalIsNamed() throws IOException {
        Metric metric = dummies("zernel_dummies", Metric.Type.COUNTER, "mood");
        assertThat(breaches(metric, List.of(metric), MOOD, ROW.replace("_total", "")))
                .containsExactly("zernel_dummies: counters and only they end in _total");
    }

    @Test
    void anInfoThatIsNoneIsNamed() throws IOException {
        Metric metric = dummies("zernel_dummies_info", Metric.Type.GAUGE, "mood");
        assertThat(breaches(metric, List.of(metric), MOOD, ROW.replace("_total` | counter", "_info` | gauge")))
                .containsExactly("zernel_dummies_info: infos and only they end in _info");
    }

    @Test
    void aLabelThatIsNotExplainedIsNamed() throws IOException {
        assertThat(breaches(DUMMIES, List.of(DUMMIES), Map.of(), ROW))
                .containsExactly("zernel_dummies_total: Metrics.LABELS does not explain 'mood'");
    }

    @Test
    void aPageThatIsNotWrittenAnewIsNamed() throws IOException {
        assertThat(breaches(DUMMIES, List.of(DUMMIES), MOOD, "")).containsExactly(
                "zernel_dummies_total: docs/metrics.md does not say what Metrics says: -Dtest=MetricsTest -Dgolden.update");
    }
}
