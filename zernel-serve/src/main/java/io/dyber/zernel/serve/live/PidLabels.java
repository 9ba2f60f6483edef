package io.dyber.zernel.serve.live;

import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/// Decides which processes have series of their own: the busiest ones, up to a limit. The others share `pid="other"`
/// until one of them becomes busier than the least busy of the chosen, which it then replaces. So thousands of
/// short-lived processes cost nothing and push nobody out that runs. One that has ended gives its place to the first that
/// wants it.
final class PidLabels {
    /// What a process did before it ended may come a little later.
    private static final long LATE_NANOS = 1_000_000_000L;

    private static final int CANDIDATES = 4096;
    private static final Comparator<Slot> ENDED_OR_LEAST_BUSY =
            Comparator.<Slot>comparingLong(slot -> slot.endedNanos).thenComparingLong(slot -> slot.events);

    private final int limit;
    private final Consumer<String> fold;
    private final Map<Long, Slot> chosen = new HashMap<>();
    private final Map<Long, Slot> candidates = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, Slot> eldest) {
            return size() > CANDIDATES;
        }
    };
    private long folded;

    private static final class Slot {
        final String label;
        long events;
        /// When the process ended; [Long#MAX_VALUE] while it runs.
        long endedNanos = Long.MAX_VALUE;

        Slot(String label) {
            this.label = label;
        }

        boolean isEnded() {
            return endedNanos != Long.MAX_VALUE;
        }
    }

    /// @param fold told the label of a process that loses its own series
    PidLabels(int limit, Consumer<String> fold) {
        this.limit = limit;
        this.fold = fold;
    }

    /// The label for an event of `pid`.
    String label(long pid) {
        Slot slot = chosen.get(pid);
        if (slot != null) {
            slot.events++;
            return slot.label;
        }
        return chosen.size() < limit ? choose(pid, new Slot(Long.toString(pid))) : challenge(pid);
    }

    /// The label of `pid` without counting an event.
    String labelOf(long pid) {
        Slot slot = chosen.get(pid);
        return slot == null ? SeriesTable.OTHER : slot.label;
    }

    /// Takes the series of its own from a process that had some; whether it had.
    boolean drop(long pid) {
        candidates.remove(pid);
        return chosen.remove(pid) != null;
    }

    /// A process has ended.
    void exit(long pid, long nanos) {
        Slot slot = chosen.get(pid);
        if (slot != null) {
            slot.endedNanos = nanos;
        }
    }

    /// As if all processes had ended.
    void exitAll(long nanos) {
        chosen.values().forEach(slot -> slot.endedNanos = nanos);
    }

    /// A process does something: it runs on after all, or another one has got its number.
    void runs(long pid, long nanos) {
        Slot slot = chosen.get(pid);
        if (slot != null && slot.isEnded() && nanos > slot.endedNanos + LATE_NANOS) {
            slot.endedNanos = Long.MAX_VALUE;
        }
    }

    /// The processes that have series of their own.
    Set<Long> chosen() {
        return chosen.keySet();
    }

    /// How many processes were told to share, some of them perhaps more than once.
    long folded() {
        return folded;
    }

    private String challenge(long pid) {
        Slot challenger = candidates.get(pid);
        if (challenger == null) {
            challenger = new Slot(Long.toString(pid));
            candidates.put(pid, challenger);
            folded++;
        }
        challenger.events++;
        Map.Entry<Long, Slot> weakest =
                chosen.entrySet().stream().min(Map.Entry.comparingByValue(ENDED_OR_LEAST_BUSY)).orElseThrow();
        if (!weakest.getValue().isEnded() && challenger.events <= 2 * weakest.getValue().events) {
            return SeriesTable.OTHER;
        }
        chosen.remove(weakest.getKey());
        candidates.remove(pid);
        fold.accept(weakest.getValue().label);
        return choose(pid, challenger);
    }

    private String choose(long pid, Slot slot) {
        slot.events++;
        chosen.put(pid, slot);
        return slot.label;
    }
}
