package io.dyber.zernel.record.option;

/// Hears how a recording goes, if it wants to: `new Progress() {}` hears nothing. Called from the recording's own thread.
public interface Progress {
    /// Probes are attached and events are being recorded.
    default void started(Started started) {}

    /// About once a second.
    default void going(Status status) {}

    /// Something worth a line: a library was found, a probe could not be attached.
    default void notice(String line) {}

    /// What the recording began with.
    ///
    /// @param functions attached so far
    /// @param callNanos what recording one call costs its thread here; 0 when that is not known
    /// @param trappedNanos the same of the functions whose calls take a debug trap; 0 when there is none, or not known
    /// @param foreseen files that are probed for the case that a process loads them
    record Started(String backend, int functions, double callNanos, double trappedNanos, int foreseen) {}

    /// Where the recording stands.
    ///
    /// @param nanos since the start
    /// @param probeShare of one CPU that the probes on functions have taken since the last status, by the cost of a call
    record Status(long nanos, long events, long lost, long bytes, double probeShare) {}
}
