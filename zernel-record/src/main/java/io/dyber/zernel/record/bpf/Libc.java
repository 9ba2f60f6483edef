package io.dyber.zernel.record.bpf;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/// The C library functions the recorder needs. Thread-safe.
final class Libc {
    static final int PROT_READ = 1;
    static final int PROT_WRITE = 2;

    private static final int PROT_EXEC = 4;
    private static final int MAP_SHARED = 1;
    private static final int MAP_PRIVATE = 2;
    private static final int CLOSE_ON_EXEC = 1;
    private static final int O_CLOEXEC = 02000000;
    private static final int O_PATH = 010000000;
    /// `struct pollfd` has the events in the lower half of its second word.
    private static final int POLLIN = 1;
    private static final int SYS_BPF = 321;
    private static final int SYS_PERF_EVENT_OPEN = 298;
    private static final int SYS_FUTEX = 202;
    private static final int FUTEX_WAKE = 1;
    private static final int EVERYONE = -1;
    private static final int NO_GROUP = -1;
    private static final long PERF_FLAG_FD_CLOEXEC = 8;
    private static final int SC_PAGESIZE = 30;
    private static final int PRIO_PROCESS = 0;
    private static final int CALLING_THREAD = 0;
    private static final SymbolLookup LIBC = Linker.nativeLinker().defaultLookup();

    // long syscall(long number, int cmd, union bpf_attr *attr, unsigned int size)
    private static final MethodHandle BPF = Native.bind(
            LIBC,
            "syscall",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, ADDRESS, JAVA_INT),
            Linker.Option.firstVariadicArg(1),
            Native.capturesErrno());

    // long syscall(long number, struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd, unsigned long flags)
    private static final MethodHandle PERF_EVENT_OPEN = Native.bind(
            LIBC,
            "syscall",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG),
            Linker.Option.firstVariadicArg(1),
            Native.capturesErrno());

    // long syscall(long number, uint32_t *word, int operation, uint32_t value)
    private static final MethodHandle FUTEX = Native.bind(
            LIBC,
            "syscall",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, ADDRESS, JAVA_INT, JAVA_INT),
            Linker.Option.firstVariadicArg(1));

    // void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset)
    private static final MethodHandle MMAP = Native.bind(
            LIBC,
            "mmap",
            FunctionDescriptor.of(ADDRESS, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG),
            Native.capturesErrno());

    // int memfd_create(const char *name, unsigned int flags)
    private static final MethodHandle MEMFD_CREATE = Native.bind(
            LIBC, "memfd_create", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT), Native.capturesErrno());

    // ssize_t write(int fd, const void *buf, size_t count)
    private static final MethodHandle WRITE = Native.bind(
            LIBC, "write", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG), Native.capturesErrno());

    // int pipe2(int pipefd[2], int flags)
    private static final MethodHandle PIPE2 =
            Native.bind(LIBC, "pipe2", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT), Native.capturesErrno());

    // int munmap(void *addr, size_t length)
    private static final MethodHandle MUNMAP =
            Native.bind(LIBC, "munmap", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG));

    // int open(const char *pathname, int flags)
    private static final MethodHandle OPEN = Native.bind(
            LIBC,
            "open",
            FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_INT),
            Linker.Option.firstVariadicArg(2),
            Native.capturesErrno());

    // int close(int fd)
    private static final MethodHandle CLOSE = Native.bind(LIBC, "close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    // long sysconf(int name)
    private static final MethodHandle SYSCONF =
            Native.bind(LIBC, "sysconf", FunctionDescriptor.of(JAVA_LONG, JAVA_INT));

    // int vsnprintf(char *str, size_t size, const char *format, va_list ap); a va_list parameter is a pointer
    private static final MethodHandle VSNPRINTF = Native.bind(
            LIBC, "vsnprintf", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS));

    // int clock_gettime(clockid_t clock, struct timespec *tp)
    private static final MethodHandle CLOCK_GETTIME =
            Native.bind(LIBC, "clock_gettime", FunctionDescriptor.of(JAVA_INT, JAVA_INT, ADDRESS));

    // int setpriority(int which, id_t who, int prio)
    private static final MethodHandle SETPRIORITY =
            Native.bind(LIBC, "setpriority", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT));

    // int capget(cap_user_header_t header, cap_user_data_t data)
    private static final MethodHandle CAPGET =
            Native.bind(LIBC, "capget", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

    // int capset(cap_user_header_t header, const cap_user_data_t data)
    private static final MethodHandle CAPSET =
            Native.bind(LIBC, "capset", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

    // int poll(struct pollfd *fds, nfds_t nfds, int timeout)
    private static final MethodHandle POLL = Native.bind(
            LIBC, "poll", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT));

    // int kill(pid_t pid, int sig)
    private static final MethodHandle KILL =
            Native.bind(LIBC, "kill", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));

    private Libc() {}

    /// Waits until a descriptor has something to read, so many milliseconds at most. Whether it has is for the caller to see:
    /// a signal ends the wait too.
    static void await(int fd, int millis) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment polled = Native.ints(arena, fd, POLLIN);
            int _ = (int) POLL.invokeExact(polled, 1L, millis);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// Sends a signal; false when there is no such process, or it may not be sent one.
    static boolean kill(int pid, int signal) {
        try {
            return (int) KILL.invokeExact(pid, signal) == 0;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// `bpf(2)`. The result, or the negative error number.
    static int bpf(int command, MemorySegment attributes) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Native.state(arena);
            long result = (long) BPF.invokeExact(
                    state, (long) SYS_BPF, command, attributes, (int) attributes.byteSize());
            return result < 0 ? -Native.errno(state) : (int) result;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// `futex(2)`: wakes all who sleep on a word of shared memory.
    static void futexWake(MemorySegment word) {
        try {
            long _ = (long) FUTEX.invokeExact((long) SYS_FUTEX, word, FUTEX_WAKE, Integer.MAX_VALUE);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// `perf_event_open(2)` of a CPU, for every process. The descriptor, or the negative error number.
    static int perfEventOpen(MemorySegment attributes, int cpu) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment state = Native.state(arena);
            long fd = (long) PERF_EVENT_OPEN.invokeExact(
                    state, (long) SYS_PERF_EVENT_OPEN, attributes, EVERYONE, cpu, NO_GROUP, PERF_FLAG_FD_CLOEXEC);
            return fd < 0 ? -Native.errno(state) : (int) fd;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// Maps a file shared. Closing the arena unmaps it; the segment must not be touched afterwards.
    static MemorySegment map(int fd, long offset, long length, int protection, Arena arena) {
        return map("mapping a ring buffer", fd, offset, length, protection, MAP_SHARED, arena);
    }

    /// Maps a file to be executed, as the loader maps a library.
    static MemorySegment mapCode(int fd, long length, Arena arena) {
        return map("mapping code", fd, 0, length, PROT_READ | PROT_EXEC, MAP_PRIVATE, arena);
    }

    private static MemorySegment map(
            String doing, int fd, long offset, long length, int protection, int flags, Arena arena) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment state = Native.state(call);
            MemorySegment mapped = (MemorySegment)
                    MMAP.invokeExact(state, MemorySegment.NULL, length, protection, flags, fd, offset);
            if (mapped.address() == -1) {
                throw BpfException.refused(doing, Native.errno(state), "");
            }
            return mapped.reinterpret(length, arena, segment -> unmap(segment, length));
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// A file that is only in memory, with these bytes. The descriptor is the caller's to close.
    static int memoryFile(String name, MemorySegment bytes) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment state = Native.state(call);
            int fd = (int) MEMFD_CREATE.invokeExact(state, call.allocateFrom(name), CLOSE_ON_EXEC);
            if (fd < 0) {
                throw BpfException.refused("making a file in memory", Native.errno(state), "");
            }
            if ((long) WRITE.invokeExact(state, fd, bytes, bytes.byteSize()) != bytes.byteSize()) {
                close(fd);
                throw BpfException.refused("writing a file in memory", Native.errno(state), "");
            }
            return fd;
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// A file that is only named, not read. The descriptor is the caller's to close.
    static int openPath(String path) {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment state = Native.state(call);
            int fd = (int) OPEN.invokeExact(state, call.allocateFrom(path), O_PATH | O_CLOEXEC);
            if (fd < 0) {
                throw BpfException.refused("opening '" + path + "'", Native.errno(state), "");
            }
            return fd;
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// A pipe that no child inherits: the end to read and the end to write, the caller's to close.
    static int[] pipe() {
        try (Arena call = Arena.ofConfined()) {
            MemorySegment state = Native.state(call);
            MemorySegment ends = Native.ints(call, -1, -1);
            if ((int) PIPE2.invokeExact(state, ends, O_CLOEXEC) != 0) {
                throw BpfException.refused("making a pipe", Native.errno(state), "");
            }
            return ends.toArray(JAVA_INT);
        } catch (RuntimeException e) {
            throw e;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// Writes an empty line. Nobody may be there to read it.
    static void writeLine(int fd) {
        try (Arena call = Arena.ofConfined()) {
            long _ = (long) WRITE.invokeExact(Native.state(call), fd, call.allocateFrom("\n"), 1L);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    private static void unmap(MemorySegment segment, long length) {
        try {
            int _ = (int) MUNMAP.invokeExact(segment, length);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    static void close(int fd) {
        try {
            int _ = (int) CLOSE.invokeExact(fd);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    static long pageSize() {
        try {
            return (long) SYSCONF.invokeExact(SC_PAGESIZE);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// Formats with the arguments of an upcall's `va_list`.
    static String format(MemorySegment format, MemorySegment arguments) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(4096);
            int _ = (int) VSNPRINTF.invokeExact(text, text.byteSize(), format, arguments);
            return text.getString(0);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    static long clock(int id) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment time = arena.allocate(16, 8);
            int _ = (int) CLOCK_GETTIME.invokeExact(id, time);
            return time.get(JAVA_LONG, 0) * 1_000_000_000L + time.get(JAVA_LONG, 8);
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// Sets the nice value of the calling thread; false when this user may not.
    static boolean nice(int value) {
        try {
            return (int) SETPRIORITY.invokeExact(PRIO_PROCESS, CALLING_THREAD, value) == 0;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// Reads the capabilities of the calling thread; false when the kernel refuses.
    static boolean capget(MemorySegment header, MemorySegment data) {
        try {
            return (int) CAPGET.invokeExact(header, data) == 0;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }

    /// Sets the capabilities of the calling thread; false when the kernel refuses.
    static boolean capset(MemorySegment header, MemorySegment data) {
        try {
            return (int) CAPSET.invokeExact(header, data) == 0;
        } catch (Throwable e) {
            throw Native.unexpected(e);
        }
    }
}
