package io.dyber.zernel.record.host;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The recorded processes that are sampled: all of them, or the largest.
final class WatchedProcesses implements AutoCloseable {
    static final int MOST = 64;

    private final Path proc;
    private final Map<Integer, Watched> watched = new LinkedHashMap<>();
    private int leftOut;

    WatchedProcesses(Path proc) {
        this.proc = proc;
    }

    /// Takes in new ones while there is room.
    ///
    /// @param recorded every process that is recorded now
    /// @param again whether to find out which are the largest, if there are too many
    void update(Set<Integer> recorded, boolean again) {
        watched.keySet().stream().filter(pid -> !recorded.contains(pid)).toList().forEach(this::forget);
        if (again && recorded.size() > MOST) {
            List<Integer> largest = largest(recorded);
            watched.keySet().stream().filter(pid -> !largest.contains(pid)).toList().forEach(this::forget);
            largest.forEach(this::watch);
        } else {
            recorded.stream().sorted().forEach(this::watch);
        }
        leftOut = Math.max(leftOut, recorded.size() - Math.max(watched.size(), Math.min(recorded.size(), MOST)));
    }

    private void watch(int pid) {
        if (watched.size() < MOST && !watched.containsKey(pid)) {
            try {
                watched.put(pid, new Watched(proc, pid));
            } catch (IOException _) {
                // It has ended.
            }
        }
    }

    private List<Integer> largest(Set<Integer> recorded) {
        Map<Integer, Long> sizes = new LinkedHashMap<>();
        for (int pid : recorded) {
            try (KernelFile file = new KernelFile(proc.resolve(Integer.toString(pid)).resolve("stat"))) {
                sizes.put(pid, ProcessStat.parse(file.text()).rssBytes());
            } catch (IOException _) {
                // It has ended.
            }
        }
        List<Integer> ordered = new ArrayList<>(sizes.keySet());
        ordered.sort(Comparator.comparing(sizes::get, Comparator.reverseOrder()));
        return ordered.subList(0, Math.min(MOST, ordered.size()));
    }

    /// Those that are sampled now.
    Collection<Watched> all() {
        return List.copyOf(watched.values());
    }

    void forget(int pid) {
        Watched gone = watched.remove(pid);
        if (gone != null) {
            gone.close();
        }
    }

    /// The most recorded processes at a time that were not sampled.
    int leftOut() {
        return leftOut;
    }

    @Override
    public void close() {
        List.copyOf(watched.keySet()).forEach(this::forget);
    }
}
