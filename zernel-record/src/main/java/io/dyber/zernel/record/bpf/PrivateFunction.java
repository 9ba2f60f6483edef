package io.dyber.zernel.record.bpf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/// A function in memory that only this process has, to be probed and called for a measurement.
///
/// It begins with an instruction that the kernel emulates under a probe, as the sites that are chosen elsewhere do.
/// The calls are made by machine code too, so no JVM is in what is measured.
public final class PrivateFunction implements AutoCloseable {
    /// Where the instruction before its `ret` lies, which the kernel emulates too.
    public static final long BEFORE_RETURN = 5;
    /// Where its `ret` lies.
    public static final long RETURN = 6;

    private static final int THREAD_CPU_TIME = 3;
    private static final int CALLER = 0x40;

    /// What lies at [#CALLER] calls what lies at 0 as often as its argument says.
    private static final int[] CODE = {
        0x55, // push %rbp
        0x5d, // pop %rbp
        0x48, 0x89, 0xf8, // mov %rdi,%rax
        0x90, // nop
        0xc3, // ret
    };

    private static final int[] CALLER_CODE = {
        0x53, // push %rbx
        0x48, 0x89, 0xfb, // mov %rdi,%rbx
        0x48, 0x89, 0xdf, // again: mov %rbx,%rdi
        0xe8, 0xb4, 0xff, 0xff, 0xff, // call the function
        0x48, 0xff, 0xcb, // dec %rbx
        0x75, 0xf3, // jne again
        0x5b, // pop %rbx
        0xc3, // ret
    };

    private static final MethodHandle CALL =
            Linker.nativeLinker().downcallHandle(FunctionDescriptor.ofVoid(JAVA_LONG));

    private final Arena arena = Arena.ofShared();
    private final int fd;
    private final MemorySegment caller;

    private PrivateFunction(int fd) {
        this.fd = fd;
        this.caller = Libc.mapCode(fd, Libc.pageSize(), arena).asSlice(CALLER);
    }

    /// Makes one.
    ///
    /// @throws BpfException when this machine does not allow code in memory, or is no x86-64
    public static PrivateFunction create() {
        if (!System.getProperty("os.arch").equals("amd64")) {
            throw new BpfException("measuring the cost of a probe: only on x86-64 so far", 0, "", "");
        }
        try (Arena call = Arena.ofConfined()) {
            MemorySegment code = call.allocate(Libc.pageSize());
            put(code, 0, CODE);
            put(code, CALLER, CALLER_CODE);
            int fd = Libc.memoryFile("zernel-calibration", code);
            try {
                return new PrivateFunction(fd);
            } catch (BpfException e) {
                Libc.close(fd);
                throw e;
            }
        }
    }

    private static void put(MemorySegment memory, int at, int[] bytes) {
        for (int i = 0; i < bytes.length; i++) {
            memory.set(JAVA_BYTE, at + i, (byte) bytes[i]);
        }
    }

    /// The file to attach a probe to, in which the function lies at offset 0.
    public Path path() {
        return Path.of("/proc/self/fd", Integer.toString(fd));
    }

    /// Calls the function.
    ///
    /// @return nanoseconds of CPU time that the calls took: on a busy machine, time itself measures the other programs
    public long call(long times) {
        try {
            long start = Libc.clock(THREAD_CPU_TIME);
            CALL.invokeExact(caller, times);
            return Libc.clock(THREAD_CPU_TIME) - start;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    @Override
    public void close() {
        arena.close();
        Libc.close(fd);
    }
}
