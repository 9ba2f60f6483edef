package io.dyber.zernel.record;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

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

    /// One recorded system call.
    ///
    /// @param about `enum about` of `bpf/syscalls.bpf.c`
    record SystemCall(String kind, String name, int number, int about) {
        /// The value of the `system_calls` map.
        byte[] encode(int kindNumber, int function) {
            return ByteBuffer.allocate(8)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putShort((short) kindNumber)
                    .putShort((short) function)
                    .putInt(about)
                    .array();
        }
    }

    /// A recorded operation of io_uring (`enum io_uring_op` of `linux/io_uring.h`).
    record RingOperation(String name, int opcode) {}

    private SystemCalls() {}

    static List<RingOperation> ringReads() {
        return List.of(
                new RingOperation("io_uring_readv", 1),
                new RingOperation("io_uring_read_fixed", 4),
                new RingOperation("io_uring_read", 22));
    }

    static List<SystemCall> all() {
        return List.of(
                new SystemCall("io", "read", 0, DESCRIPTOR),
                new SystemCall("io", "pread64", 17, DESCRIPTOR),
                new SystemCall("io", "readv", 19, DESCRIPTOR),
                new SystemCall("io", "preadv", 295, DESCRIPTOR),
                new SystemCall("io", "preadv2", 327, DESCRIPTOR),
                new SystemCall("io_open", "open", 2, PATH),
                new SystemCall("io_open", "creat", 85, PATH),
                new SystemCall("io_open", "openat", 257, PATH_AT),
                new SystemCall("io_open", "openat2", 437, PATH_AT),
                new SystemCall("wait", "poll", 7, POLL_DESCRIPTORS),
                new SystemCall("wait", "select", 23, NOTHING),
                new SystemCall("wait", "futex", 202, FUTEX),
                new SystemCall("wait", "epoll_wait", 232, DESCRIPTOR),
                new SystemCall("wait", "pselect6", 270, NOTHING),
                new SystemCall("wait", "ppoll", 271, POLL_DESCRIPTORS),
                new SystemCall("wait", "epoll_pwait", 281, DESCRIPTOR),
                new SystemCall("wait", "epoll_pwait2", 441, DESCRIPTOR),
                new SystemCall("wait", "futex_waitv", 449, FUTEXES));
    }
}
