package io.dyber.zernel.serve;

/// Pushes snapshots to all connected clients.
interface SnapshotFeed extends AutoCloseable {
    /// Where it listens.
    int port();

    /// Who is connected now.
    int clients();

    /// Whether it still lets clients in.
    boolean answers();

    /// Sends `json` to every client that has taken what it was sent before, and keeps it for those that connect
    /// later. A client that has not skips this one and is told how many it missed when it has caught up.
    void publish(String json);

    @Override
    void close();
}
