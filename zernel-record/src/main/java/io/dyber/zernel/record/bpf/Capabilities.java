package io.dyber.zernel.record.bpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.stream.IntStream;

/// What the calling thread may do beyond an ordinary user, as in capabilities(7).
public final class Capabilities {
    private static final int CHOWN = 0;
    private static final int DAC_OVERRIDE = 1;
    private static final int DAC_READ_SEARCH = 2;
    private static final int FOWNER = 3;
    private static final int KILL = 5;
    private static final int SYS_PTRACE = 19;
    private static final int SYS_NICE = 23;
    private static final int SYS_RESOURCE = 24;
    private static final int PERFMON = 38;
    private static final int BPF = 39;
    private static final int CHECKPOINT_RESTORE = 40;

    /// Of the output: its folder, owner and mode; of the job: its files, its libraries (`map_files` needs the last one),
    /// ending the command; of the rings: locked memory, and emptying them in time.
    private static final long RECORDING = bits(
            CHOWN, DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER, KILL, SYS_PTRACE, SYS_NICE, SYS_RESOURCE, PERFMON, BPF,
            CHECKPOINT_RESTORE);

    private static final int VERSION_3 = 0x20080522; // _LINUX_CAPABILITY_VERSION_3 of linux/capability.h
    private static final int WORDS = 2;
    private static final int WORD = 12; // effective, permitted, inheritable

    private Capabilities() {}

    /// Gives up, for this thread and those it starts from now on, what taking and writing events does not need. Attaching
    /// needs more on some kernels: perf probes want CAP_SYS_ADMIN.
    public static void keepThoseOfRecording() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment header = Native.ints(arena, VERSION_3, 0);
            MemorySegment data = arena.allocate((long) WORDS * WORD, Integer.BYTES);
            if (!Libc.capget(header, data)) {
                return;
            }
            for (int word = 0; word < WORDS; word++) {
                int kept = (int) (RECORDING >>> (Integer.SIZE * word));
                for (long at = (long) word * WORD; at < (word + 1L) * WORD; at += Integer.BYTES) {
                    data.set(JAVA_INT, at, data.get(JAVA_INT, at) & kept);
                }
            }
            boolean _ = Libc.capset(header, data);
        }
    }

    private static long bits(int... capabilities) {
        return IntStream.of(capabilities).mapToLong(capability -> 1L << capability).sum();
    }
}
