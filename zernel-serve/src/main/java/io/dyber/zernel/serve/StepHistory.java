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

    private final Map<Long, Trainer> processes = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Trainer> eldest) {
            return size() > PROCESSES;
        }
    };

    private static final class Trainer {
        final Deque<Ended> steps = new ArrayDeque<>();
        long lastNanos;
    }

    private record Ended(long endNanos, Map<Phase, Long> phaseNanos) {}

    void add(long pid, long endNanos, Map<Phase, Long> phaseNanos) {
        Trainer trainer = processes.computeIfAbsent(pid, _ -> new Trainer());
        if (trainer.steps.size() == STEPS) {
            trainer.steps.removeFirst();
        }
        trainer.steps.addLast(new Ended(endNanos, phaseNanos));
        trainer.lastNanos = endNanos;
    }

    /// A process has ended.
    void exit(long pid) {
        processes.remove(pid);
    }

    /// Gives each process that has not ended and the end of its last step.
    void forEachLast(BiConsumer<Long, Long> action) {
        processes.forEach((pid, trainer) -> action.accept(pid, trainer.lastNanos));
    }

    /// Gives each process' shares of all phases, adding up to 1, of the steps that ended in the minute before
    /// `nowNanos`. Processes without any are left out.
    void forEachRecent(long nowNanos, BiConsumer<Long, Map<Phase, Double>> action) {
        processes.forEach((pid, trainer) -> {
            trainer.steps.removeIf(entry -> entry.endNanos() < nowNanos - MINUTE_NANOS);
            Map<Phase, Double> shares = new EnumMap<>(Phase.class);
            for (Ended entry : trainer.steps) {
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
