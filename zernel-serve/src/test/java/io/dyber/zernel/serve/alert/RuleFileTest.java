package io.dyber.zernel.serve.alert;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.dyber.zernel.serve.alert.AlertRule.Action;
import io.dyber.zernel.serve.alert.AlertRule.Comparison;
import io.dyber.zernel.serve.alert.AlertRule.Severity;
import io.dyber.zernel.serve.alert.AlertRules.RuleFileException;
import io.dyber.zernel.serve.metric.Metrics;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class RuleFileTest {
    @Test
    void aRuleSaysAllItsParts() throws RuleFileException {
        AlertRules rules = RuleFile.parse("rules.yaml", """
                webhook:
                  url: http://localhost:8080/alerts
                  payload: alertmanager
                  timeout: 500ms
                  retries: 2
                rules:
                  - name: slow-launches
                    metric: zernel_cuda_launch_latency_seconds
                    labels: {pid: "4242", quantile: "0.99"}
                    comparison: ">="
                    threshold: 1e-3
                    for: 2m
                    severity: info
                    action: [log, webhook]
                    summary: Launches take long.
                """);
        assertThat(rules.rules()).containsExactly(new AlertRule(
                "slow-launches",
                Metrics.CUDA_LAUNCH,
                Map.of("pid", "4242", "quantile", "0.99"),
                Comparison.AT_LEAST,
                0.001,
                Duration.ofMinutes(2),
                Severity.INFO,
                Set.of(Action.LOG, Action.WEBHOOK),
                "Launches take long."));
        assertThat(rules.webhook()).hasValue(new Webhook.Options(
                URI.create("http://localhost:8080/alerts"), AlertPayload.ALERTMANAGER, Duration.ofMillis(500), 2));
    }

    @Test
    void aRuleMayChooseARank() throws RuleFileException {
        AlertRules rules = RuleFile.parse("rules.yaml", """
                rules:
                  - {name: stuck, metric: zernel_step_age_seconds, labels: {rank: "0"}, comparison: ">", threshold: 60}
                """);
        assertThat(rules.rules().getFirst().expression()).isEqualTo("zernel_step_age_seconds{rank=\"0\"} > 60");
    }

    @Test
    void jsonIsReadToo() throws RuleFileException {
        AlertRules rules = RuleFile.parse("rules.json", """
                {"rules": [{"name": "lost", "metric": "zernel_lost_events_total", "comparison": ">", "threshold": 0}]}
                """);
        assertThat(rules.rules()).containsExactly(new AlertRule(
                "lost", Metrics.LOST, Map.of(), Comparison.ABOVE, 0, Duration.ZERO, Severity.WARNING,
                Set.of(Action.LOG), ""));
    }

    @Test
    void theDefaultIsADeviceThatIsAlmostFullForFiveSeconds() {
        assertThat(AlertRules.defaults().rules()).singleElement().satisfies(rule -> {
            assertThat(rule.expression()).isEqualTo("zernel_gpu_memory_used_ratio > 0.95");
            assertThat(rule.holdFor()).isEqualTo(Duration.ofSeconds(5));
        });
    }

    @Test
    void everyFaultIsALineWithItsPlace() {
        assertThat(faults("""
                rules:
                  - name: a
                    metric: zernel_step_second
                    comparison: ">"
                    treshold: 1
                  - name: a
                    metric: zernel_step_seconds
                    comparison: "=>"
                    threshold: many
                    for: 5 s
                    severity: high
                    action: webhook
                  - metric: zernel_gpu_power_watts
                    labels: {pid: "1"}
                    comparison: "<"
                    threshold: 1
                """)).containsExactly(
                "rules.yaml:5: a rule has no 'treshold'; did you mean 'threshold'?",
                "rules.yaml:3: no metric is called 'zernel_step_second'; did you mean 'zernel_step_seconds'?",
                "rules.yaml:2: 'threshold' is missing",
                "rules.yaml:6: there are two rules 'a'",
                "rules.yaml:6: zernel_step_seconds is a summary: say which of its quantiles, "
                        + "labels: {quantile: \"0.5\"} or {quantile: \"0.99\"}",
                "rules.yaml:8: '=>' compares nothing; there are > >= < <= == !=",
                "rules.yaml:9: 'many' is not a number",
                "rules.yaml:10: '5 s' is not a duration: say 500ms, 5s, 2m or 1h",
                "rules.yaml:11: 'high' is no severity; there are info, warning, critical",
                "rules.yaml:12: the action is webhook, but the file has no webhook: {url: ...}",
                "rules.yaml:13: 'name' is missing",
                "rules.yaml:14: labels of zernel_gpu_power_watts has no 'pid'");
    }

    @Test
    void whatIsNoYamlIsOneFault() {
        assertThat(faults("rules:\n  - name: [a\n")).singleElement().asString().startsWith("rules.yaml:3: ");
        assertThat(faults("")).containsExactly("rules.yaml:1: the file is empty");
        assertThat(faults("hello")).startsWith("rules.yaml:1: a rule file has keys: rules, webhook");
    }

    @Test
    void aWebhookNeedsAnAddressOfTheWeb() {
        assertThat(faults("webhook: {url: 'file:///etc/passwd'}\nrules: []\n"))
                .containsExactly("rules.yaml:1: 'file:///etc/passwd' is not a http or https URL");
        assertThat(faults("webhook: {url: 'http://a b'}\nrules: []\n"))
                .containsExactly("rules.yaml:1: 'http://a b' is not a http or https URL");
    }

    @Test
    void aWebhookHasSomeTimeToAnswer() {
        assertThat(faults("webhook: {url: 'http://a', timeout: 0s}\nrules: []\n"))
                .containsExactly("rules.yaml:1: a timeout is more than 0");
    }

    private static List<String> faults(String text) {
        RuleFileException bad =
                catchThrowableOfType(RuleFileException.class, () -> RuleFile.parse("rules.yaml", text));
        return Objects.requireNonNull(bad).faults();
    }
}
