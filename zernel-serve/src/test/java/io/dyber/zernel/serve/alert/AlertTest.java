package io.dyber.zernel.serve.alert;

import static org.assertj.core.api.Assertions.assertThat;

import io.dyber.zernel.serve.alert.AlertRule.Action;
import io.dyber.zernel.serve.alert.AlertRule.Comparison;
import io.dyber.zernel.serve.alert.AlertRule.Severity;
import io.dyber.zernel.serve.metric.Metrics;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class AlertTest {
    @Test
    void itsSentenceIsTheSummaryTheSeriesAndTheCondition() {
        assertThat(alert("A device is almost full.", Map.of("gpu_id", "0")).sentence())
                .isEqualTo("A device is almost full (gpu_id 0): 0.9700 > 0.95 for 5 s");
    }

    @Test
    void aRuleWithoutASummaryIsCalledByItsName() {
        assertThat(alert("", Map.of()).sentence()).isEqualTo("full: 0.9700 > 0.95 for 5 s");
    }

    private static Alert alert(String summary, Map<String, String> labels) {
        AlertRule rule = new AlertRule("full", Metrics.GPU_MEMORY_RATIO, Map.of(), Comparison.ABOVE, 0.95,
                Duration.ofSeconds(5), Severity.CRITICAL, Set.of(Action.LOG), summary);
        return new Alert(rule, labels, Alert.State.FIRING, 0.97, 0, 5_000_000_000L);
    }
}
