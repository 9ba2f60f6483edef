package io.dyber.zernel.record.bpf;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// Machine code that makes the same cheap system call over and over, for a measurement of what one costs: no JVM is in
/// it. It has a file of its own, in memory, to read.
public final class RepeatedSystemCall implements AutoCloseable {
    /// Their numbers on x86-64.
    public static final int PREAD64 = 17;

    public static final int POLL = 7;

    private static final int READ_BYTES = 100;
    private static final int THREAD_CPU_TIME = 3;

    /// times, number, and three arguments of the system call, of which the fourth is 0.
    private static final int[] CODE = {
        0x53, // push %rbx
        0x48, 0x89, 0xfb, // mov %rdi,%rbx
        0x49, 0x89, 0xf1, // mov %rsi,%r9
        0x48, 0x89, 0xd7, // mov %rdx,%rdi
        0x48, 0x89, 0xce, // mov %rcx,%rsi
        0x4c, 0x89, 0xc2, // mov %r8,%rdx
        0x45, 0x31, 0xd2, // xor %r10d,%r10d
        0x4c, 0x89, 0xc8, // again: mov %r9,%rax
        0x0f, 0x05, // syscall
        0x48, 0xff, 0xcb, // dec %rbx
        0x75, 0xf6, // jne again
        0x5b, // pop %rbx
        0xc3, // ret: what the last one returned
    };

    private static final MethodHandle CALL = Linker.nativeLinker()
            .downcallHandle(FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_LONG));

    private final Arena arena = Arena.ofShared();
    private final int codeFd;
    private final int dataFd;
    private final MemorySegment code;
    private final MemorySegment buffer;

    private RepeatedSystemCall(int codeFd, int dataFd) {
        this.codeFd = codeFd;
        this.dataFd = dataFd;
        this.code = Libc.mapCode(codeFd, Libc.pageSize(), arena);
        this.buffer = arena.allocate(READ_BYTES);
    }

    /// Makes one.
    ///
    /// @throws BpfException when this machine does not allow code in memory, or is no x86-64
    public static RepeatedSystemCall create() {
        if (!System.getProperty("os.arch").equals("amd64")) {
            throw new BpfException("measuring the cost of a system call: only on x86-64 so far", 0, "", "");
        }
        try (Arena call = Arena.ofConfined()) {
            MemorySegment page = call.allocate(Libc.pageSize());
            int dataFd = Libc.memoryFile("zernel-reads", page);
            int codeFd = -1;
            try {
                for (int i = 0; i < CODE.length; i++) {
                    page.set(JAVA_BYTE, i, (byte) CODE[i]);
                }
                codeFd = Libc.memoryFile("zernel-system-calls", page);
                return new RepeatedSystemCall(codeFd, dataFd);
            } catch (BpfException e) {
                Libc.close(dataFd);
                if (codeFd >= 0) {
                    Libc.close(codeFd);
                }
                throw e;
            }
        }
    }

    /// Reads 100 bytes of a file that is in memory.
    ///
    /// @return nanoseconds of CPU time that all of them took
    public long read(long times) {
        return timed(times, PREAD64, dataFd, buffer, READ_BYTES);
    }

    /// Polls no descriptors, without waiting.
    ///
    /// @return nanoseconds of CPU time that all of them took
    public long poll(long times) {
        return timed(times, POLL, 0, MemorySegment.NULL, 0);
    }

    private long timed(long times, long number, long first, MemorySegment second, long third) {
        try {
            long start = Libc.clock(THREAD_CPU_TIME);
            long result = (long) CALL.invokeExact(code, times, number, first, second, third);
            long took = Libc.clock(THREAD_CPU_TIME) - start;
            if (result < 0) {
                throw BpfException.refused("measuring the cost of a system call", (int) -result, "");
            }
            return took;
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    @Override
    public void close() {
        arena.close();
        Libc.close(codeFd);
        Libc.close(dataFd);
    }
}
