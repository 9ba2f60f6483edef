package io.dyber.zernel.record.cli;

import io.dyber.zernel.record.recording.RecordingFile.Owner;
import java.util.Optional;

/// The user who ran sudo: files belong to them, and the recorded command runs as them.
final class Invoker {
    private Invoker() {}

    /// Empty when the recorder was not started through sudo.
    static Optional<Owner> owner() {
        String uid = System.getenv("SUDO_UID");
        String gid = System.getenv("SUDO_GID");
        if (uid == null || gid == null || !uid.matches("\\d{1,9}") || !gid.matches("\\d{1,9}")) {
            return Optional.empty();
        }
        return Optional.of(new Owner(Integer.parseInt(uid), Integer.parseInt(gid)));
    }
}
