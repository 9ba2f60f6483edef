package io.dyber.zernel.serve;

import io.dyber.zernel.serve.alert.Alert;
import io.dyber.zernel.serve.alert.AlertEngine;
import io.dyber.zernel.serve.alert.AlertRules;
import io.dyber.zernel.serve.analysis.Analysis;
import io.dyber.zernel.serve.live.LiveMetrics;
import io.dyber.zernel.serve.live.SeriesPolicy;
import io.dyber.zernel.serve.source.EventBatch;
import io.dyber.zernel.serve.source.EventSource;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Consumer;

/// Reads events to their end without serving them, to see which alerts fire and when. Nobody is told.
public final class AlertReplay {
    private AlertReplay() {}

    /// An alert that began to fire or was resolved.
    ///
    /// @param secondsIn event time since the first event
    public record Change(Alert alert, double secondsIn) {}

    /// What was read.
    ///
    /// @param seconds of event time
    /// @param note what could not be looked at; empty when there is nothing to say
    public record Outcome(double seconds, String note) {}

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
            live.facts(source::facts);
            analysis.start();
            analysis.awaitBegin();
            Optional<EventBatch> batch = source.next();
            while (batch.isPresent()) {
                live.apply(batch.get());
                batch = source.next();
            }
            return new Outcome(live.secondsSeen(), analysis.note());
        }
    }
}
