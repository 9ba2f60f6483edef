package io.dyber.zernel.serve.source;

/// The controls of a replay. Any thread may use them.
public interface Playback {
    void pause(boolean paused);

    void speed(Speed speed);

    /// Goes to a moment of the recording. What lies before it is applied without waiting, so every metric is what it
    /// would have been; going back begins at the start again.
    ///
    /// @param nanos since the first event
    void seek(long nanos);

    Status status();

    /// Where a replay is.
    ///
    /// @param startMs the first event, milliseconds since the epoch
    /// @param positionS how far the replay is, seconds since the first event
    /// @param lengthS of the recording, seconds
    /// @param seeking on its way to a moment it was sent to
    record Status(
            double startMs,
            double positionS,
            double lengthS,
            String speed,
            boolean paused,
            boolean loop,
            boolean seeking) {}
}
