package io.dyber.zernel.record.probe;

/// Where a captured value starts.
public enum Source {
    /// An integer or pointer argument, as it was when the function was entered.
    ARGUMENT,
    /// The address of an argument on the stack: a struct passed by value.
    STACK,
    /// The returned integer or pointer.
    RETURN,
    /// The stack of the caller, when the call has blocked for long enough.
    CALLERS
}
