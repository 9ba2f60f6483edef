package io.dyber.zernel.record.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// What kind of computer this is.
public final class Machine {
    /// Set to `true`, it makes a virtual machine be treated as bare metal: every function is probed at any cost.
    public static final String BARE_METAL = "zernel.bare-metal";

    private Machine() {}

    /// Whether it is a virtual one, where a debug trap costs several times as much as on bare metal.
    public static boolean isVirtual() {
        if (Boolean.getBoolean(BARE_METAL)) {
            return false;
        }
        try {
            return Files.readString(Path.of("/proc/cpuinfo")).contains(" hypervisor");
        } catch (IOException _) {
            return false;
        }
    }
}
