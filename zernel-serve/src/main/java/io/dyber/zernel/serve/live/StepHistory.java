package io.dyber.zernel.serve.live;

import io.dyber.zernel.serve.analysis.Phase;
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
    private static final int EXITS = 4096;
    private static final long MINUTE_NANOS = 60_000_000_000L;

    private final Map<Long, Trainer> processes = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Trainer> eldest) {
            return size() > PROCESSES;
        }
    };
    /// When processes ended: of one that is being recorded, the last steps are told later.
    private final Map<Long, Long> exits = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Long> eldest) {
            return size() > EXITS;
        }
    };

    private long allExitedNanos = Long.MIN_VALUE;

    private static final class Trainer {
        private final Deque<Ended> steps = new ArrayDeque<>();
        /// Of all `steps`.
        private final Map<Phase, Long> phaseNanos = new EnumMap<>(Phase.class);
        private long lastNanos;
        private boolean exited;

        void add(Ended step) {
            if (steps.size() == STEPS) {
                removeFirst();
            }
            steps.addLast(step);
            step.phaseNanos().forEach((phase, nanos) -> phaseNanos.merge(phase, nanos, Long::sum));
            lastNanos = Math.max(lastNanos, step.endNanos());
        }

        void forgetBefore(long nanos) {
            while (!steps.isEmpty() && steps.element().endNanos() < nanos) {
                removeFirst();
            }
        }

        private void removeFirst() {
            steps.removeFirst().phaseNanos().forEach((phase, nanos) -> phaseNanos.merge(phase, -nanos, Long::sum));
        }
    }

    private record Ended(long endNanos, Map<Phase, Long> phaseNanos) {}

    void add(long pid, long endNanos, Map<Phase, Long> phaseNanos) {
        Trainer trainer = processes.computeIfAbsent(pid, _ -> new Trainer());
        trainer.add(new Ended(endNanos, phaseNanos));
        // A new process may get the number of an old one.
        trainer.exited = trainer.lastNanos <= Math.max(allExitedNanos, exits.getOrDefault(pid, Long.MIN_VALUE));
    }

    /// A process has ended. Its steps count until they are a minute old, so a replay ends with what there was to see.
    void exit(long pid, long nanos) {
        exits.put(pid, nanos);
        Trainer trainer = processes.get(pid);
        if (trainer != null) {
            trainer.exited = true;
        }
    }

    /// As if all processes had ended: nobody will say when they do.
    void exitAll(long nanos) {
        allExitedNanos = nanos;
        exits.clear();
        processes.values().forEach(trainer -> trainer.exited = true);
    }

    /// Gives each process that has not ended and the end of its last step.
    void forEachLast(BiConsumer<Long, Long> action) {
        processes.forEach((pid, trainer) -> {
            if (!trainer.exited) {
                action.accept(pid, trainer.lastNanos);
            }
        });
    }

    /// Gives each process' shares of all phases, adding up to 1, of the steps that ended in the minute before
    /// `nowNanos`. Processes without any are left out.
    void forEachRecent(long nowNanos, BiConsumer<Long, Map<Phase, Double>> action) {
        processes.forEach((pid, trainer) -> {
            trainer.forgetBefore(nowNanos - MINUTE_NANOS);
            double total = trainer.phaseNanos.values().stream().mapToLong(Long::longValue).sum();
            if (total > 0) {
                Map<Phase, Double> shares = new EnumMap<>(Phase.class);
                trainer.phaseNanos.forEach((phase, nanos) -> shares.put(phase, nanos / total));
                action.accept(pid, shares);
            }
        });
        processes.values().removeIf(trainer -> trainer.exited && trainer.steps.isEmpty());
    }
}
