package io.dyber.zernel.record.stack;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// A stack as flame graph tools write it: frames from the outermost inwards, between `;`.
final class FoldedStack {
    static final String DEEPER = "[deeper]";
    static final String UNREADABLE = "[unreadable]";
    private static final String BETWEEN = ";";

    private final List<String> inwards = new ArrayList<>();

    /// Adds the caller of what was added last.
    void caller(String frame) {
        inwards.add(frame.replace(';', ',').replace('\n', ',').replace('\r', ','));
    }

    /// None without a frame.
    Optional<String> text() {
        return inwards.isEmpty() ? Optional.empty() : Optional.of(String.join(BETWEEN, inwards.reversed()));
    }
}
