package io.dyber.zernel.serve;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;

/// The latest training steps of each process, to say what they spent their time on.
///
/// Not thread-safe.
final class StepHistory {
    private static final int PROCESSES = 256;
    private static final int STEPS = 4096;
    private static final long MINUTE_NANOS = 60_000_000_000L;

    private final Map<Long, Deque<Ended>> processes = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Deque<Ended>> eldest) {
            return size() > PROCESSES;
        }
    };

    private record Ended(long endNanos, Map<Phase, Long> phaseNanos) {}

    void add(long pid, long endNanos, Map<Phase, Long> phaseNanos) {
        Deque<Ended> entries = processes.computeIfAbsent(pid, _ -> new ArrayDeque<>());
        if (entries.size() == STEPS) {
            entries.removeFirst();
        }
        entries.addLast(new Ended(endNanos, phaseNanos));
    }

    /// Gives each process' shares of all phases, adding up to 1, of the steps that ended in the minute before
    /// `nowNanos`. Processes without any are left out.
    void forEachRecent(long nowNanos, BiConsumer<Long, Map<Phase, Double>> action) {
        processes.forEach((pid, entries) -> {
            entries.removeIf(entry -> entry.endNanos() < nowNanos - MINUTE_NANOS);
            Map<Phase, Double> shares = new EnumMap<>(Phase.class);
            for (Ended entry : entries) {
                entry.phaseNanos().forEach((phase, nanos) -> shares.merge(phase, (double) nanos, Double::sum));
            }
            double total = shares.values().stream().mapToDouble(Double::doubleValue).sum();
            if (total > 0) {
                shares.replaceAll((_, nanos) -> nanos / total);
                action.accept(pid, shares);
            }
        });
    }
}
