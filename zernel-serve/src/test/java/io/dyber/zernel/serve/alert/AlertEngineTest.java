package io.dyber.zernel.serve.alert;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.alert.AlertRule.Action;
import io.dyber.zernel.serve.alert.AlertRule.Comparison;
import io.dyber.zernel.serve.alert.AlertRule.Severity;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ObjDoubleConsumer;
import org.junit.jupiter.api.Test;

final class AlertEngineTest {
    private final List<String> told = new ArrayList<>();
    private final Map<List<String>, Double> values = new HashMap<>();
    private final Map<String, String> also = new TreeMap<>();
    private final AlertEngine engine = engine(Map.of());

    @Test
    void itFiresOnceTheConditionHasHeldLongEnough() {
        for (int second = 1; second <= 9; second++) {
            look(second, second < 3 ? 0.9 : 0.97);
        }
        assertThat(told).containsExactly("8 firing {gpu_id=0} since 3");
        assertThat(engine.active()).singleElement().satisfies(alert -> {
            assertThat(alert.condition()).isEqualTo("0.9700 > 0.95 for 5 s");
            assertThat(alert.state()).isEqualTo(Alert.State.FIRING);
        });
    }

    @Test
    void anInterruptionStartsTheWaitAgain() {
        for (int second = 1; second <= 12; second++) {
            look(second, second == 5 ? 0.5 : 0.97);
        }
        assertThat(told).containsExactly("11 firing {gpu_id=0} since 6");
    }

    @Test
    void aSeriesThatIsGoneIsResolved() {
        for (int second = 1; second <= 8; second++) {
            look(second, 0.97);
        }
        values.clear();
        engine.evaluate(9_000_000_000L, readings());
        assertThat(told).containsExactly("6 firing {gpu_id=0} since 1", "9 resolved {gpu_id=0} since 1");
        assertThat(engine.active()).isEmpty();
        assertThat(engine.changes()).extracting(Alert::state)
                .containsExactly(Alert.State.FIRING, Alert.State.RESOLVED);
    }

    @Test
    void eachSeriesHasAnAlertOfItsOwn() {
        values.put(List.of("1"), 0.99);
        for (int second = 1; second <= 7; second++) {
            look(second, second == 1 ? 0.1 : 0.97);
        }
        assertThat(told).containsExactly("6 firing {gpu_id=1} since 1", "7 firing {gpu_id=0} since 2");
    }

    @Test
    void anAlertEndsWithTheLabelsWithWhichItFired() {
        for (int second = 1; second <= 6; second++) {
            look(second, 0.97);
        }
        also.put("rank", "3");
        look(7, 0.97);
        look(8, 0.1);
        assertThat(told).containsExactly("6 firing {gpu_id=0} since 1", "8 resolved {gpu_id=0} since 1");
    }

    @Test
    void aRuleMayAskForALabelThatWasAdded() {
        also.put("rank", "3");
        AlertEngine ofRank = engine(Map.of("rank", "3"));
        AlertEngine ofAnother = engine(Map.of("rank", "4"));
        values.put(List.of("0"), 0.97);
        ofRank.evaluate(1, readings());
        ofAnother.evaluate(1, readings());
        assertThat(ofRank.active()).hasSize(1);
        assertThat(ofAnother.active()).isEmpty();
    }

    @Test
    void onlySeriesWithTheLabelsCount() {
        AlertEngine ofTheFirst = engine(Map.of("gpu_id", "0"));
        values.put(List.of("0"), 0.1);
        values.put(List.of("1"), 0.99);
        ofTheFirst.evaluate(1, readings());
        ofTheFirst.evaluate(9_000_000_000L, readings());
        assertThat(ofTheFirst.active()).isEmpty();
    }

    @Test
    void whatIsNoNumberMeetsNoCondition() {
        for (Comparison comparison : Comparison.values()) {
            assertThat(comparison.holds(Double.NaN, 1)).as(comparison.sign()).isFalse();
        }
        assertThat(Comparison.NOT_EQUAL.holds(2, 1)).isTrue();
        assertThat(Comparison.AT_MOST.holds(1, 1)).isTrue();
        assertThat(Comparison.BELOW.holds(1, 1)).isFalse();
    }

    private void look(int second, double value) {
        values.put(List.of("0"), value);
        engine.evaluate(second * 1_000_000_000L, readings());
    }

    private Readings readings() {
        return new Readings() {
            @Override
            public Map<String, String> labels(Metric metric, List<String> labelValues) {
                Map<String, String> labels = metric.labelled(labelValues);
                labels.putAll(also);
                return labels;
            }

            @Override
            public void numbers(Metric metric, ObjDoubleConsumer<List<String>> series) {
                values.forEach(series::accept);
            }

            @Override
            public void quantiles(Metric metric, double quantile, ObjDoubleConsumer<List<String>> series) {
                throw new AssertionError("a gauge has no quantiles");
            }
        };
    }

    private AlertEngine engine(Map<String, String> labels) {
        AlertRule rule = new AlertRule("full", Metrics.GPU_MEMORY_RATIO, labels, Comparison.ABOVE, 0.95,
                Duration.ofSeconds(5), Severity.CRITICAL, Set.of(Action.LOG), "");
        return new AlertEngine(new AlertRules(List.of(rule), Optional.empty()), alert -> told.add(
                alert.atNanos() / 1_000_000_000L + " " + alert.state().label() + " " + alert.labels() + " since "
                        + alert.sinceNanos() / 1_000_000_000L));
    }
}
