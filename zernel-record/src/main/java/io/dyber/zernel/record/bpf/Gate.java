package io.dyber.zernel.record.bpf;

import java.nio.file.Path;

/// Holds another process: it opens [#path] and reads a line, which comes when the gate is opened. A gate that is closed
/// instead, also by the end of this process, gives it the end of the file.
public final class Gate implements AutoCloseable {
    private final int reader;
    private final int writer;
    private boolean closed;

    private Gate(int reader, int writer) {
        this.reader = reader;
        this.writer = writer;
    }

    /// A gate that holds.
    ///
    /// @throws BpfException when this process has too many files open
    public static Gate shut() {
        int[] ends = Libc.pipe();
        return new Gate(ends[0], ends[1]);
    }

    /// What to read from, for a process of the same user while this one lives. A descriptor could not be handed down: Java
    /// closes all but the first three in its children.
    public Path path() {
        return Path.of("/proc", Long.toString(ProcessHandle.current().pid()), "fd", Integer.toString(reader));
    }

    /// Lets the other process go on. Only the first call of this or of [#close] has an effect.
    public void open() {
        if (!closed) {
            Libc.writeLine(writer);
            close();
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Libc.close(writer);
            Libc.close(reader);
        }
    }
}
