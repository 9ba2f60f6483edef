package io.dyber.zernel.record.builtin;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.Stream;

/// The system calls that are recorded, with their x86-64 numbers (`arch/x86/entry/syscalls/syscall_64.tbl`), and what
/// io_uring does instead of them.
final class SystemCalls {
    private static final int NOTHING = 0;
    private static final int DESCRIPTOR = 1;
    private static final int POLL_DESCRIPTORS = 2;
    private static final int FUTEX = 3;
    private static final int FUTEXES = 4;
    private static final int PATH = 5;
    private static final int PATH_AT = 6;
    private static final int INPUT = 7;
    private static final int OUTPUT = 8;
    private static final int SENT_TO = 9;
    private static final int SYNCED = 10;
    private static final int LOCK = 11;
    private static final int RENAMED = 12;
    private static final int RENAMED_AT = 13;

    /// One recorded system call.
    ///
    /// @param about `enum about` of `bpf/syscalls.bpf.c`
    record SystemCall(String kind, String name, int number, int about) implements KernelPart.Entry {
        @Override
        public String map() {
            return "system_calls";
        }

        @Override
        public int key() {
            return number;
        }

        @Override
        public byte[] value(int kindNumber, int function) {
            return ByteBuffer.allocate(8)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putShort((short) kindNumber)
                    .putShort((short) function)
                    .putInt(about)
                    .array();
        }
    }

    /// A recorded operation of io_uring (`enum io_uring_op` of `linux/io_uring.h`).
    record RingOperation(String name, int opcode) implements KernelPart.Entry {
        @Override
        public String map() {
            return "operations";
        }

        @Override
        public int key() {
            return opcode;
        }

        @Override
        public byte[] value(int kindNumber, int function) {
            return ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(function).array();
        }
    }

    private SystemCalls() {}

    static List<RingOperation> ringReads() {
        return List.of(
                new RingOperation("io_uring_readv", 1),
                new RingOperation("io_uring_read_fixed", 4),
                new RingOperation("io_uring_read", 22));
    }

    /// Those of a kind.
    static List<SystemCall> of(String kind) {
        return Stream.of(reads(), writes(), opens(), waits())
                .flatMap(List::stream)
                .filter(call -> call.kind().equals(kind))
                .toList();
    }

    /// Kind `io`: what `is_read` of the analyzer's `prelude.sql` has too.
    private static List<SystemCall> reads() {
        return List.of(
                new SystemCall("io", "read", 0, INPUT),
                new SystemCall("io", "pread64", 17, INPUT),
                new SystemCall("io", "readv", 19, INPUT),
                new SystemCall("io", "preadv", 295, INPUT),
                new SystemCall("io", "preadv2", 327, INPUT));
    }

    /// Kind `io`: writes, and what else can wait for them. The bytes of `sendfile` and `copy_file_range` are written.
    private static List<SystemCall> writes() {
        return List.of(
                new SystemCall("io", "write", 1, OUTPUT),
                new SystemCall("io", "pwrite64", 18, OUTPUT),
                new SystemCall("io", "writev", 20, OUTPUT),
                new SystemCall("io", "pwritev", 296, OUTPUT),
                new SystemCall("io", "pwritev2", 328, OUTPUT),
                new SystemCall("io", "sendfile", 40, OUTPUT),
                new SystemCall("io", "copy_file_range", 326, SENT_TO),
                new SystemCall("io", "fsync", 74, SYNCED),
                new SystemCall("io", "fdatasync", 75, SYNCED),
                new SystemCall("io", "sync_file_range", 277, SYNCED),
                new SystemCall("io", "syncfs", 306, SYNCED),
                new SystemCall("io", "ftruncate", 77, SYNCED),
                new SystemCall("io", "fallocate", 285, SYNCED),
                new SystemCall("io", "sync", 162, NOTHING),
                new SystemCall("io", "msync", 26, NOTHING),
                new SystemCall("io", "rename", 82, RENAMED),
                new SystemCall("io", "renameat", 264, RENAMED_AT),
                new SystemCall("io", "renameat2", 316, RENAMED_AT));
    }

    /// Kind `io_open`.
    private static List<SystemCall> opens() {
        return List.of(
                new SystemCall("io_open", "open", 2, PATH),
                new SystemCall("io_open", "creat", 85, PATH),
                new SystemCall("io_open", "openat", 257, PATH_AT),
                new SystemCall("io_open", "openat2", 437, PATH_AT));
    }

    /// Kind `wait`: calls that may block, which are recorded when they do.
    private static List<SystemCall> waits() {
        return List.of(
                new SystemCall("wait", "poll", 7, POLL_DESCRIPTORS),
                new SystemCall("wait", "select", 23, NOTHING),
                new SystemCall("wait", "futex", 202, FUTEX),
                new SystemCall("wait", "epoll_wait", 232, DESCRIPTOR),
                new SystemCall("wait", "pselect6", 270, NOTHING),
                new SystemCall("wait", "ppoll", 271, POLL_DESCRIPTORS),
                new SystemCall("wait", "epoll_pwait", 281, DESCRIPTOR),
                new SystemCall("wait", "epoll_pwait2", 441, DESCRIPTOR),
                new SystemCall("wait", "futex_waitv", 449, FUTEXES),
                new SystemCall("wait", "nanosleep", 35, NOTHING),
                new SystemCall("wait", "clock_nanosleep", 230, NOTHING),
                new SystemCall("wait", "pause", 34, NOTHING),
                new SystemCall("wait", "restart_syscall", 219, NOTHING),
                new SystemCall("wait", "rt_sigtimedwait", 128, NOTHING),
                new SystemCall("wait", "rt_sigsuspend", 130, NOTHING),
                new SystemCall("wait", "recvfrom", 45, DESCRIPTOR),
                new SystemCall("wait", "recvmsg", 47, DESCRIPTOR),
                new SystemCall("wait", "recvmmsg", 299, DESCRIPTOR),
                new SystemCall("wait", "sendto", 44, DESCRIPTOR),
                new SystemCall("wait", "sendmsg", 46, DESCRIPTOR),
                new SystemCall("wait", "sendmmsg", 307, DESCRIPTOR),
                new SystemCall("wait", "accept", 43, DESCRIPTOR),
                new SystemCall("wait", "accept4", 288, DESCRIPTOR),
                new SystemCall("wait", "connect", 42, DESCRIPTOR),
                new SystemCall("wait", "wait4", 61, NOTHING),
                new SystemCall("wait", "waitid", 247, NOTHING),
                new SystemCall("wait", "flock", 73, DESCRIPTOR),
                new SystemCall("wait", "fcntl", 72, LOCK),
                new SystemCall("wait", "semop", 65, NOTHING),
                new SystemCall("wait", "semtimedop", 220, NOTHING),
                new SystemCall("wait", "msgsnd", 69, NOTHING),
                new SystemCall("wait", "msgrcv", 70, NOTHING),
                new SystemCall("wait", "mq_timedsend", 242, DESCRIPTOR),
                new SystemCall("wait", "mq_timedreceive", 243, DESCRIPTOR),
                new SystemCall("wait", "io_getevents", 208, NOTHING),
                new SystemCall("wait", "io_pgetevents", 333, NOTHING));
    }
}
