package io.dyber.zernel.serve;

import io.dyber.zernel.serve.alert.Alert;
import io.dyber.zernel.serve.alert.AlertEngine;
import io.dyber.zernel.serve.alert.AlertRule;
import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.analysis.Analysis;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.live.SeriesPolicy;
import io.dyber.zernel.serve.metric.FleetMetrics;
import io.dyber.zernel.serve.metric.Metric;
import io.dyber.zernel.serve.metric.Metrics;
import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.EventSource;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Reads events to their end without serving them, to see which alerts fire and when. Nobody is told.
public final class AlertReplay {
    /// What is found, and when, depends on how long the analyzer takes; the others count what a server does.
    private static final Set<Metric> SERVED_ONLY = Stream.concat(
                    FleetMetrics.ALL.stream(),
                    Stream.of(Metrics.FINDING_INFO, Metrics.FINDING_LOST, Metrics.ALERTS, Metrics.ALERT_NOTIFICATIONS,
                            Metrics.OTLP_FAILURES))
            .collect(Collectors.toUnmodifiableSet());

    private AlertReplay() {}

    /// An alert that began to fire or was resolved.
    ///
    /// @param secondsIn event time since the first event
    public record Change(Alert alert, double secondsIn) {}

    /// What was read.
    ///
    /// @param seconds of event time
    /// @param note what could not be looked at; empty when there is nothing to say
    /// @param untried rules about metrics that are there only where they are served
    public record Outcome(double seconds, String note, List<AlertRule> untried) {}

    public static Outcome run(EventSource source, AlertRules rules, SeriesPolicy policy, Consumer<Change> changes)
            throws IOException, InterruptedException {
        long[] firstNanos = {0};
        AlertEngine engine = new AlertEngine(
                rules, alert -> changes.accept(new Change(alert, (alert.atNanos() - firstNanos[0]) / 1e9)));
        try (Analysis analysis = new Analysis(source, false)) {
            LiveMetrics live = new LiveMetrics(policy, analysis.inferences(), view -> {
                firstNanos[0] = view.startNanos();
                engine.evaluate(view.nowNanos(), view);
            });
            live.overhead(source.overheadShare());
            live.detail(source::detail);
            live.facts(source::facts);
            analysis.start();
            analysis.awaitBegin();
            Optional<EventBatch> batch = source.next();
            while (batch.isPresent()) {
                live.apply(batch.get());
                batch = source.next();
            }
            List<AlertRule> untried =
                    rules.rules().stream().filter(rule -> SERVED_ONLY.contains(rule.metric())).toList();
            return new Outcome(live.secondsSeen(), analysis.note(), untried);
        }
    }
}
