package io.dyber.zernel.record.probe;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// What one event of a user-named probe can hold; the BPF program reserves exactly this much.
final class ProbeLimits {
    /// On entry.
    static final int INTEGERS = 12;
    static final int RETURN_INTEGERS = 4;
    static final int STRINGS = 1;

    /// Columns that the recorder fills itself.
    static final Set<String> RESERVED = Set.of("kind", "ts_ns", "dur_ns", "pid", "tid", "cpu", "comm");

    private ProbeLimits() {}

    static void check(String what, List<Capture> captures) {
        long strings = captures.stream().filter(c -> c.width().text()).count();
        long atReturn = captures.stream().filter(Capture::atReturn).count();
        if (strings > STRINGS || captures.size() - strings - atReturn > INTEGERS || atReturn > RETURN_INTEGERS) {
            throw new IllegalArgumentException("probing '" + what + "': at most " + INTEGERS + " integers at entry, "
                    + RETURN_INTEGERS + " at return and " + STRINGS + " string per function can be captured");
        }
        Set<String> columns = new HashSet<>();
        for (Capture capture : captures) {
            if (RESERVED.contains(capture.column()) || !columns.add(capture.column())) {
                throw new IllegalArgumentException(
                        "probing '" + what + "': column '" + capture.column() + "' is already filled");
            }
        }
    }
}
