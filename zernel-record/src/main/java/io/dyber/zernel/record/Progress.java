package io.dyber.zernel.record;

/// Hears how a recording goes. Called from the recording's own thread.
public interface Progress {
    /// Probes are attached and events are being recorded.
    void started(Started started);

    /// About once a second.
    void going(Status status);

    /// Something worth a line: a library was found, a probe could not be attached.
    void notice(String line);

    /// What the recording began with.
    ///
    /// @param functions attached so far
    record Started(String backend, int functions) {}

    /// Where the recording stands.
    ///
    /// @param nanos since the start
    record Status(long nanos, long events, long lost, long bytes) {}
}
