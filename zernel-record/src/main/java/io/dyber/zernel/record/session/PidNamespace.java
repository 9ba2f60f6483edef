package io.dyber.zernel.record.session;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/// The pid namespace that the recorder runs in. The kernel's events have the numbers of the initial one, `/proc` those of
/// our own: in another they would never meet.
public final class PidNamespace {
    public static final String FIX = "run it on the host, or in a container with --pid=host (Kubernetes: hostPID: true)";

    private static final Path OWN = Path.of("/proc/self/ns/pid");
    /// `PROC_PID_INIT_INO` of the kernel's `linux/proc_ns.h`.
    private static final String INITIAL = "4026531836";

    private PidNamespace() {}

    /// Why nothing can be recorded from here, if so.
    public static Optional<String> problem() {
        return nested().map(number -> "inside pid namespace " + number
                + ": the kernel names processes otherwise than this namespace does");
    }

    private static Optional<String> nested() {
        try {
            String number = Files.readSymbolicLink(OWN).toString().replaceAll("\\D", "");
            return Optional.of(number).filter(own -> !own.equals(INITIAL));
        } catch (IOException _) { // a kernel without namespaces
            return Optional.empty();
        }
    }
}
