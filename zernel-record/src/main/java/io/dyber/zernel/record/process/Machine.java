package io.dyber.zernel.record.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// What kind of computer this is.
public final class Machine {
    /// Set to `true`, it makes a virtual machine be treated as bare metal: every function is probed at any cost.
    public static final String BARE_METAL = "zernel.bare-metal";

    private static final Pattern RELEASE = Pattern.compile("6\\.(1[123])(?:\\.(\\d+))?(?!\\d).*");

    private Machine() {}

    /// The kernel's release, as `uname -r` has it.
    public static String kernel() {
        return System.getProperty("os.version");
    }

    /// Whether a probe of a function's return ends a process that has a seccomp filter, as those in containers have.
    public static boolean endsFilteredAtReturns() {
        return endsFilteredAtReturns(kernel());
    }

    /// Since 6.11 a probed return comes back by a system call of its own, which filters let pass since 6.12.14, 6.13.3 and 6.14.
    /// Of a distribution's kernel whose number does not say so, it is not known.
    static boolean endsFilteredAtReturns(String release) {
        Matcher number = RELEASE.matcher(release);
        if (!number.matches()) {
            return false;
        }
        int patch = number.group(2) == null ? 0 : Integer.parseInt(number.group(2));
        return switch (number.group(1)) {
            case "11" -> true;
            case "12" -> patch < 14;
            default -> patch < 3;
        };
    }

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
