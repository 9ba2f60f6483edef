package io.dyber.zernel.record.probe;

/// Where a captured value starts.
public enum Source {
    /// An integer or pointer argument, as it was when the function was entered.
    ARGUMENT,
    /// The returned integer or pointer.
    RETURN
}
