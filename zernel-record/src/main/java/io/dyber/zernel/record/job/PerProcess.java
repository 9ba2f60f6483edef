package io.dyber.zernel.record.job;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/// What is known by handle or address, which mean something in one process only. A process is forgotten at once.
final class PerProcess<V> {
    private final Map<Integer, Map<Long, V>> processes = new HashMap<>();

    Optional<V> get(int pid, long handle) {
        return Optional.ofNullable(processes.getOrDefault(pid, Map.of()).get(handle));
    }

    V getOrPut(int pid, long handle, Supplier<V> initial) {
        return of(pid).computeIfAbsent(handle, _ -> initial.get());
    }

    private Map<Long, V> of(int pid) {
        return processes.computeIfAbsent(pid, _ -> new HashMap<>());
    }

    void put(int pid, long handle, V value) {
        of(pid).put(handle, value);
    }

    /// Whether there was nothing at the handle before.
    boolean putIfAbsent(int pid, long handle, V value) {
        return of(pid).putIfAbsent(handle, value) == null;
    }

    Optional<V> remove(int pid, long handle) {
        Map<Long, V> process = processes.get(pid);
        if (process == null) {
            return Optional.empty();
        }
        Optional<V> removed = Optional.ofNullable(process.remove(handle));
        if (process.isEmpty()) {
            processes.remove(pid);
        }
        return removed;
    }

    boolean isEmpty() {
        return processes.isEmpty();
    }

    /// Forgets every process.
    void clear() {
        processes.clear();
    }

    void forget(int pid) {
        processes.remove(pid);
    }
}
