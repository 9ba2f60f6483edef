package io.dyber.zernel.serve;

import io.dyber.zernel.serve.alert.Alert;
import io.dyber.zernel.serve.alert.AlertEngine;
import io.dyber.zernel.serve.alert.AlertRules;
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

    /// Gives the length of what was read, in seconds of event time.
    public static double run(EventSource source, AlertRules rules, int pidLimit, Consumer<Change> changes)
            throws IOException, InterruptedException {
        long[] firstNanos = {0};
        AlertEngine engine = new AlertEngine(
                rules, alert -> changes.accept(new Change(alert, (alert.atNanos() - firstNanos[0]) / 1e9)));
        LiveMetrics live = new LiveMetrics(pidLimit, view -> {
            firstNanos[0] = view.startNanos();
            engine.evaluate(view.nowNanos(), view);
        });
        Optional<EventBatch> batch = source.next();
        while (batch.isPresent()) {
            live.apply(batch.get());
            batch = source.next();
        }
        return live.secondsSeen();
    }
}
