package io.dyber.zernel.serve.mcp;

import java.util.stream.Stream;

/// Revisions of the Model Context Protocol that the server speaks, oldest first.
enum Revision {
    JUNE_2025("2025-06-18"),
    NOVEMBER_2025("2025-11-25");

    private final String date;

    Revision(String date) {
        this.date = date;
    }

    /// What the protocol calls it.
    String date() {
        return date;
    }

    /// The one that a client asks for, else the newest: the client decides whether it can do with that.
    static Revision answering(String asked) {
        return Stream.of(values()).filter(one -> one.date.equals(asked)).findFirst().orElse(NOVEMBER_2025);
    }
}
