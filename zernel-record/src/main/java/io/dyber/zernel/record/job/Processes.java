package io.dyber.zernel.record.job;

import java.util.HashSet;
import java.util.Set;

/// Which processes were recorded from their start.
final class Processes {
    private final Set<Integer> adopted = new HashSet<>();

    void adopted(int pid) {
        adopted.add(pid);
    }

    /// From here on all it does is seen.
    void began(int pid) {
        adopted.remove(pid);
    }

    /// Whether everything the process did was seen.
    boolean seenFromStart(int pid) {
        return !adopted.contains(pid);
    }
}
