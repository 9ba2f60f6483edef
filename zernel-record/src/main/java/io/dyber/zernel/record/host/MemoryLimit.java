package io.dyber.zernel.record.host;

import java.nio.file.Path;
import java.util.OptionalLong;

/// How much memory this process may use.
public final class MemoryLimit {
    private MemoryLimit() {}

    /// Bytes; none where its cgroup, and those around it, have no limit.
    public static OptionalLong ofThisProcess() {
        return new Cgroups(Path.of("/")).of((int) ProcessHandle.current().pid()).memory()
                .map(limit -> OptionalLong.of(limit.value()))
                .orElseGet(OptionalLong::empty);
    }
}
