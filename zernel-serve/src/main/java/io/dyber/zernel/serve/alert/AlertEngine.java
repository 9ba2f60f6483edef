package io.dyber.zernel.serve.alert;

import io.dyber.zernel.serve.metric.Metric;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.ObjDoubleConsumer;

/// Looks at all series once a second of event time and knows which alerts are pending and which fire.
///
/// Thread-safe. Listeners are called by the thread that evaluates.
public final class AlertEngine {
    private static final int CHANGES = 200;

    private final AlertRules rules;
    private final Consumer<Alert> listener;
    private final Map<Key, Alert> active = new LinkedHashMap<>();
    private final Deque<Alert> changes = new ArrayDeque<>();

    private record Key(AlertRule rule, List<String> labelValues) {}

    /// @param listener told each alert that begins to fire or is resolved
    public AlertEngine(AlertRules rules, Consumer<Alert> listener) {
        this.rules = rules;
        this.listener = listener;
    }

    public AlertRules rules() {
        return rules;
    }

    /// Looks at the values of the event time `nowNanos`.
    public synchronized void evaluate(long nowNanos, Readings readings) {
        Set<Key> met = new HashSet<>();
        for (AlertRule rule : rules.rules()) {
            read(rule, readings, (values, value) -> {
                Map<String, String> labels = labels(rule, readings.labels(rule.metric(), values));
                if (labels.entrySet().containsAll(rule.labels().entrySet())
                        && rule.comparison().holds(value, rule.threshold())) {
                    Key key = new Key(rule, List.copyOf(values));
                    met.add(key);
                    meet(key, labels, value, nowNanos);
                }
            });
        }
        for (Key key : List.copyOf(active.keySet())) {
            if (!met.contains(key)) {
                leave(key, nowNanos);
            }
        }
    }

    /// The alerts that are pending or fire, the oldest first.
    public synchronized List<Alert> active() {
        return List.copyOf(active.values());
    }

    /// The latest alerts that began to fire or were resolved, the oldest first.
    public synchronized List<Alert> changes() {
        return List.copyOf(changes);
    }

    private static void read(AlertRule rule, Readings readings, ObjDoubleConsumer<List<String>> to) {
        if (rule.metric().type() == Metric.Type.SUMMARY) {
            readings.quantiles(rule.metric(), Double.parseDouble(rule.labels().getOrDefault(AlertRule.QUANTILE, "")), to);
        } else {
            readings.numbers(rule.metric(), to);
        }
    }

    private static Map<String, String> labels(AlertRule rule, Map<String, String> shown) {
        Map<String, String> labels = new LinkedHashMap<>(shown);
        String quantile = rule.labels().get(AlertRule.QUANTILE);
        if (quantile != null) {
            labels.put(AlertRule.QUANTILE, quantile);
        }
        return labels;
    }

    private void meet(Key key, Map<String, String> labels, double value, long nowNanos) {
        Alert known = active.get(key);
        long since = known == null ? nowNanos : known.sinceNanos();
        boolean fired = known != null && known.state() == Alert.State.FIRING;
        boolean fires = fired || nowNanos - since >= key.rule().holdFor().toNanos();
        Alert.State state = fires ? Alert.State.FIRING : Alert.State.PENDING;
        long at = known != null && known.state() == state ? known.atNanos() : nowNanos;
        // Who is told of its end knows it by its labels.
        Alert alert = new Alert(key.rule(), fired && known != null ? known.labels() : labels, state, value, since, at);
        active.put(key, alert);
        if (fires && !fired) {
            tell(alert);
        }
    }

    private void leave(Key key, long nowNanos) {
        Alert alert = active.remove(key);
        if (alert != null && alert.state() == Alert.State.FIRING) {
            tell(new Alert(alert.rule(), alert.labels(), Alert.State.RESOLVED, alert.value(), alert.sinceNanos(),
                    nowNanos));
        }
    }

    private void tell(Alert alert) {
        if (changes.size() == CHANGES) {
            changes.removeFirst();
        }
        changes.addLast(alert);
        listener.accept(alert);
    }
}
