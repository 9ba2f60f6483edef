package io.dyber.zernel.serve.fleet;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// The newest digest of each machine's recorder, and what became of all that came.
///
/// A recorder whose newest digest came a minute before the newest of all is silent: its digest is not compared with the others'
/// any more. After a quarter of an hour it is forgotten. Where all fall silent at once, the last ones stay.
///
/// Not thread-safe; touches no file.
final class FleetWindow {
    static final Duration SILENT_AFTER = Duration.ofSeconds(60);
    static final Duration FORGOTTEN_AFTER = Duration.ofMinutes(15);
    static final int MOST_MACHINES = 5000;

    private final Map<Sender, Held> held = new LinkedHashMap<>();
    private final Map<Fate, Long> fates = new EnumMap<>(Fate.class);
    private final int most;

    /// What becomes of a digest that comes.
    enum Fate {
        READ,
        DAMAGED,
        FOREIGN,
        NEWER,
        DUPLICATE,
        LATE,
        TOO_LARGE,
        DROPPED,
        REFUSED;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// One recorder of a machine.
    record Sender(String host, String recorder) {}

    /// A digest that is kept until the next one of its sender.
    ///
    /// @param file our copy
    /// @param name of the file that came
    /// @param arrivedMs when it came, since the epoch
    record Held(Sender sender, Path file, String name, long startedNanos, long endedNanos, long arrivedMs) {}

    /// @param fate of what was offered
    /// @param leaving what need not be kept any more: what was offered, or what it replaces
    record Outcome(Fate fate, Optional<Held> leaving) {}

    FleetWindow() {
        this(MOST_MACHINES);
    }

    /// @param most machines
    FleetWindow(int most) {
        this.most = most;
        for (Fate fate : Fate.values()) {
            fates.put(fate, 0L);
        }
    }

    /// A digest has come.
    Outcome offer(Held digest) {
        Held before = held.get(digest.sender());
        if (before == null && held.size() >= most) {
            return left(digest, Fate.DROPPED);
        }
        if (before != null && before.endedNanos() == digest.endedNanos() && before.startedNanos() == digest.startedNanos()) {
            return left(digest, Fate.DUPLICATE);
        }
        if (before != null && before.endedNanos() > digest.endedNanos()) {
            return left(digest, Fate.LATE);
        }
        count(Fate.READ);
        held.put(digest.sender(), digest);
        return new Outcome(Fate.READ, Optional.ofNullable(before));
    }

    private Outcome left(Held digest, Fate fate) {
        count(fate);
        return new Outcome(fate, Optional.of(digest));
    }

    /// Something has come that is no digest that could be held.
    void count(Fate fate) {
        fates.merge(fate, 1L, Long::sum);
    }

    /// How many came, by what became of them; all fates are there.
    Map<Fate, Long> fates() {
        return Map.copyOf(fates);
    }

    /// A digest turned out to be damaged.
    void remove(Held damaged) {
        held.remove(damaged.sender(), damaged);
        count(Fate.DAMAGED);
    }

    /// Those that are compared with each other.
    List<Held> sending() {
        return held.values().stream().filter(this::isSending).toList();
    }

    /// The last digests of those that send no more.
    List<Held> silent() {
        return held.values().stream().filter(digest -> !isSending(digest)).toList();
    }

    private boolean isSending(Held digest) {
        return newestMs() - digest.arrivedMs() <= SILENT_AFTER.toMillis();
    }

    /// When the newest came; 0 where none did.
    long newestMs() {
        return held.values().stream().mapToLong(Held::arrivedMs).max().orElse(0);
    }

    /// Leaves those out that have been silent for long, and says which.
    Collection<Held> forget() {
        long newest = newestMs();
        List<Held> gone = new ArrayList<>();
        held.values().removeIf(digest -> {
            boolean old = newest - digest.arrivedMs() > FORGOTTEN_AFTER.toMillis();
            if (old) {
                gone.add(digest);
            }
            return old;
        });
        return gone;
    }
}
