package io.dyber.zernel.record.bpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/// The loops of `src/test/workloads/ring.c` over a ring, for measuring what reading it costs in C. Compiled with gcc; for
/// one ring a process.
public final class RingInC {
    private static final FunctionDescriptor READ = FunctionDescriptor.of(JAVA_LONG, JAVA_INT);

    private final MethodHandle callback;
    private final MethodHandle join;
    private final MethodHandle copy;

    /// Compiles the loops and maps the ring for them.
    public RingInC(Path source, Path folder, BpfMap ring, long size) throws IOException, InterruptedException {
        Path library = folder.resolve("libring.so");
        Process gcc = new ProcessBuilder(
                        "gcc", "-O2", "-shared", "-fPIC", "-o", library.toString(), source.toString(), "-l:libbpf.so.1")
                .inheritIO()
                .start();
        if (gcc.waitFor() != 0) {
            throw new IOException("compiling " + source);
        }
        SymbolLookup loops = SymbolLookup.libraryLookup(library, Arena.global());
        this.callback = Native.bind(loops, "read_by_callback", FunctionDescriptor.of(JAVA_LONG));
        this.join = Native.bind(loops, "read_and_join", READ);
        this.copy = Native.bind(loops, "read_and_copy", READ);
        MethodHandle open = Native.bind(loops, "open_ring", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
        try {
            if ((int) open.invokeExact(ring.fd(), size) != 0) {
                throw new IOException("mapping the ring in C");
            }
        } catch (IOException e) {
            throw e;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// Hands every record to libbpf's callback.
    ///
    /// @return how many
    public long readByCallback() {
        try {
            return (long) callback.invokeExact();
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// Stores columns; returns are joined to their entries as the recorder does.
    ///
    /// @return how many rows
    public long join(boolean sendsEntry) {
        try {
            return (long) join.invokeExact(sendsEntry ? 1 : 0);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// Stores columns, taking each return for that of the entry before it.
    ///
    /// @return how many rows
    public long copy(boolean sendsEntry) {
        try {
            return (long) copy.invokeExact(sendsEntry ? 1 : 0);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }
}
