package io.dyber.zernel.record.probe;

import java.util.List;

/// A kind of event and how it is seen.
///
/// @param object the BPF object with its programs, or empty when they are those of all functions
/// @param hooks the functions it probes; empty for a kind that is seen in the kernel
/// @param library what must be loaded for its hooks to exist, for messages; empty for the kernel
/// @param summary one line for `zernel-record probes`
public record Probe(String kind, String object, String library, List<Hook> hooks, String summary) {
    public Probe {
        hooks = List.copyOf(hooks);
    }

    /// Whether it is seen in calls of user-space functions.
    public boolean isOfFunctions() {
        return !hooks.isEmpty() || isOptIn();
    }

    /// Whether it is only recorded where `--probe` says what of it.
    public boolean isOptIn() {
        return hooks.isEmpty() && object.isEmpty();
    }
}
