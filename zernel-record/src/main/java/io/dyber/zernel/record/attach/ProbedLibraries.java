package io.dyber.zernel.record.attach;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.event.Load;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// The account of the files whose functions are probed: how each was found, when it was first loaded and when its probes
/// were on. Between the two lies what was not seen of it, unless the process was held.
public final class ProbedLibraries {
    private static final int MOST_NAMED = 5;

    /// How a file was found.
    public enum Found {
        /// The program of the command, or a library that a probe names by its path.
        GIVEN,
        /// Where programs usually find their libraries, before any process of the recording had loaded it.
        FORESEEN,
        /// In a process that ran before the recording.
        RUNNING,
        /// When a process had loaded it.
        LATE
    }

    /// One file. Times are of CLOCK_MONOTONIC.
    private static final class Library {
        private final String path;
        private final String buildId;
        private final Found found;
        private final long attachedNanos;
        private final boolean missed;
        private Optional<Load> loaded = Optional.empty();
        private long heldNanos;
        private long unseenNanos;

        Library(String path, String buildId, Found found, long attachedNanos, boolean missed) {
            this.path = path;
            this.buildId = buildId;
            this.found = found;
            this.attachedNanos = attachedNanos;
            this.missed = missed;
        }
    }

    private final Clock clock;
    private final Map<String, Library> libraries = new LinkedHashMap<>();
    private final Set<String> idle = new HashSet<>();
    private final Set<String> busy = new HashSet<>();
    private final Set<String> missed = new LinkedHashSet<>();
    private long beganNanos = Long.MAX_VALUE;

    public ProbedLibraries(Clock clock) {
        this.clock = clock;
    }

    /// From now on, calls that are not seen are missing.
    public void begin() {
        beganNanos = Clock.monotonicNanos();
    }

    /// The probes of a file are on.
    ///
    /// @param missed whether something is missing without its first calls: a Python that begins has too few objects for a
    ///     collection that would be a row
    void attached(String identity, String path, String buildId, Found found, boolean missed) {
        if (found != Found.FORESEEN) {
            busy.add(path);
            idle.remove(path);
        }
        libraries.putIfAbsent(identity, new Library(path, buildId, found, Clock.monotonicNanos(), missed));
    }

    /// Where a probed file is, as processes see it.
    String path(String identity) {
        Library library = libraries.get(identity);
        return library == null ? "" : library.path;
    }

    public boolean isProbed(String identity) {
        return libraries.containsKey(identity);
    }

    /// A process has loaded a probed file.
    ///
    /// @param wentOnNanos when the process went on, if it was held
    void loaded(String identity, Load load, long wentOnNanos) {
        Library library = libraries.get(identity);
        if (library == null) {
            return;
        }
        long from = load.held() ? wentOnNanos : Math.max(load.nanos(), beganNanos);
        library.unseenNanos = Math.max(library.unseenNanos, library.attachedNanos - from);
        if (load.held()) {
            library.heldNanos = Math.max(library.heldNanos, wentOnNanos - load.nanos());
        }
        if (library.loaded.isEmpty()) {
            library.loaded = Optional.of(load);
        }
    }

    /// A process has ended before the wanted file that it had loaded could be opened.
    public void missed(String path) {
        missed.add(path);
    }

    /// A file that a probe means was foreseen. What becomes of it matters only when a process loads it, unless a file of the
    /// same path is in use, as in another container.
    void foreseen(String path) {
        if (!busy.contains(path)) {
            idle.add(path);
        }
    }

    /// A file of this path was loaded.
    ///
    /// @return whether it was foreseen, and is the first
    public boolean used(String path) {
        busy.add(path);
        return idle.remove(path);
    }

    /// How many probed files nobody is known to have loaded.
    public int idle() {
        return (int) libraries.values().stream().filter(library -> isIdle(library.path)).count();
    }

    /// Whether a file was foreseen, and no process is known to have loaded it.
    boolean isIdle(String path) {
        return idle.contains(path);
    }

    /// Which calls were not seen, of which libraries and for how long.
    public List<String> caveats() {
        List<String> reasons = new ArrayList<>();
        libraries.values().stream()
                .filter(library -> library.missed && library.unseenNanos > 0)
                .sorted(Comparator.comparingLong((Library library) -> library.unseenNanos).reversed())
                .forEach(library -> reasons.add(String.format(
                        Locale.ROOT,
                        "calls into %s were not seen for %,.1f ms: it was loaded by surprise",
                        library.path,
                        library.unseenNanos / 1e6)));
        libraries.values().stream()
                .filter(library -> library.missed && library.found == Found.LATE && library.loaded.isEmpty())
                .forEach(library -> reasons.add(
                        "calls into " + library.path + " may be missing: when it was loaded is not known"));
        missed.forEach(path -> reasons.add("calls into " + path
                        + " may be missing: the process that loaded it ended before it could be probed"));
        if (reasons.size() > MOST_NAMED) {
            int more = reasons.size() - MOST_NAMED;
            reasons.subList(MOST_NAMED, reasons.size()).clear();
            reasons.add("so it was with " + more + " more files, which zernel.libraries lists");
        }
        return reasons;
    }

    /// The footer's `zernel.libraries`.
    public List<Footer.LibraryInfo> describe() {
        return libraries.values().stream()
                .map(library -> new Footer.LibraryInfo(
                        library.path,
                        library.buildId,
                        library.found.name().toLowerCase(Locale.ROOT),
                        library.attachedNanos + clock.offsetNanos(),
                        library.loaded.map(load -> load.nanos() + clock.offsetNanos()).orElse(null),
                        library.loaded.map(Load::pid).orElse(null),
                        library.heldNanos,
                        library.unseenNanos))
                .toList();
    }
}
