package io.dyber.zernel.record.bpf;

import java.nio.file.Path;

/// A file that stays at hand although the process through which it was found ends. Closing lets go of it.
public final class HeldFile implements AutoCloseable {
    private final int descriptor;

    private HeldFile(int descriptor) {
        this.descriptor = descriptor;
    }

    /// Keeps a file.
    ///
    /// @throws BpfException when it cannot be opened
    public static HeldFile open(Path path) {
        return new HeldFile(Libc.openPath(path.toString()));
    }

    /// Where this process finds it.
    public Path path() {
        return Path.of("/proc/self/fd/" + descriptor);
    }

    @Override
    public void close() {
        Libc.close(descriptor);
    }
}
