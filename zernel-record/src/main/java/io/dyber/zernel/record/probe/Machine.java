package io.dyber.zernel.record.probe;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// What kind of computer this is.
public final class Machine {
    private Machine() {}

    /// Whether it is a virtual one, where a debug trap costs several times as much as on bare metal.
    public static boolean isVirtual() {
        try {
            return Files.readString(Path.of("/proc/cpuinfo")).contains(" hypervisor");
        } catch (IOException _) {
            return false;
        }
    }
}
