package io.dyber.zernel.serve;

import io.dyber.zernel.serve.alert.Alert;
import io.dyber.zernel.serve.alert.AlertEngine;
import io.dyber.zernel.serve.alert.AlertRule;
import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.alert.AlertsPage;
import io.dyber.zernel.serve.alert.Readings;
import io.dyber.zernel.serve.alert.Webhook;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.live.SeriesTable;
import io.dyber.zernel.serve.metric.CommonLabels;
import io.dyber.zernel.serve.metric.Metrics;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/// Alert rules at work on live metrics: tells the log and the webhook, and shows the state as metrics and JSON.
public final class Alerting implements LiveMetrics.Watcher, AutoCloseable {
    private static final List<Alert.State> SHOWN = List.of(Alert.State.PENDING, Alert.State.FIRING);

    private final AlertRules rules;
    private final Consumer<Alert> log;
    private final Optional<Webhook> webhook;
    private final CommonLabels labels;
    private volatile AlertEngine engine;
    private volatile Consumer<Alert> listener = _ -> {};

    /// @param log told each alert that begins to fire or is resolved, of the rules that log
    public Alerting(AlertRules rules, Consumer<Alert> log) {
        this(rules, log, CommonLabels.NONE);
    }

    /// @param labels that a webhook is told with each alert
    public Alerting(AlertRules rules, Consumer<Alert> log, CommonLabels labels) {
        this.labels = labels;
        this.rules = rules;
        this.log = log;
        this.webhook = rules.webhook().map(Webhook::new);
        this.engine = new AlertEngine(rules, this::tell);
    }

    @Override
    public void second(LiveMetrics.View view) {
        evaluate(view.nowNanos(), view);
    }

    /// Looks at the values of the event time `nowNanos`.
    void evaluate(long nowNanos, Readings readings) {
        engine.evaluate(nowNanos, readings);
    }

    @Override
    public void export(SeriesTable series) {
        for (AlertRule rule : rules.rules()) {
            for (Alert.State state : SHOWN) {
                List<String> labels = List.of(rule.name(), state.label(), rule.severity().label());
                series.number(Metrics.ALERTS, labels).value = engine.active().stream()
                        .filter(alert -> alert.rule().equals(rule) && alert.state() == state)
                        .count();
            }
        }
        Webhook.Counts counts = webhook.map(Webhook::counts).orElse(new Webhook.Counts(0, 0, 0));
        series.number(Metrics.ALERT_NOTIFICATIONS, List.of("sent")).value = counts.sent();
        series.number(Metrics.ALERT_NOTIFICATIONS, List.of("failed")).value = counts.failed();
        series.number(Metrics.ALERT_NOTIFICATIONS, List.of("dropped")).value = counts.dropped();
    }

    /// Whom to tell, too: each alert that begins to fire or is resolved, of all rules.
    void tellAlso(Consumer<Alert> also) {
        listener = also;
    }

    /// Whether alerts still get to where they are to go.
    boolean works() {
        return webhook.map(Webhook::works).orElse(true);
    }

    @Override
    public void close() {
        webhook.ifPresent(Webhook::close);
    }

    /// Event time jumps, and with it all that was pending or fired.
    void startOver() {
        engine = new AlertEngine(rules, this::tell);
    }

    /// The alerts that are pending or fire.
    List<Snapshot.Raised> raised() {
        return engine.active().stream()
                .map(alert -> new Snapshot.Raised(
                        alert.rule().name(),
                        alert.state().label(),
                        alert.rule().severity().label(),
                        alert.sentence(),
                        alert.sinceNanos() / 1_000_000))
                .toList();
    }

    String json() {
        return AlertsPage.json(engine);
    }

    private void tell(Alert alert) {
        listener.accept(alert);
        if (alert.rule().actions().contains(AlertRule.Action.LOG)) {
            log.accept(alert);
        }
        if (alert.rule().actions().contains(AlertRule.Action.WEBHOOK)) {
            webhook.ifPresent(known -> known.accept(alert.with(labels)));
        }
    }
}
