package io.dyber.zernel.record.process;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Reads the memory of a recorded process where a call has said that something lies.
///
/// It is the memory of the program that ran in the process when this was opened: once that has ended, or has started another
/// one in its place (`exec`), nothing can be read. Not thread-safe.
public final class ProcessMemory implements Memory, AutoCloseable {
    private static final int WINDOW = 64 << 10;
    private static final byte[] NOTHING = {};

    private final @Nullable FileChannel memory;

    private ProcessMemory(@Nullable FileChannel memory) {
        this.memory = memory;
    }

    /// That of a process; where it may not be read, each read gives nothing.
    public static ProcessMemory of(int pid) {
        try {
            return new ProcessMemory(FileChannel.open(Path.of("/proc/" + pid + "/mem"), StandardOpenOption.READ));
        } catch (IOException _) {
            return new ProcessMemory(null);
        }
    }

    @Override
    public byte[] read(long address, int size) {
        if (size <= 0) {
            return NOTHING;
        }
        ByteBuffer bytes = ByteBuffer.allocate(size);
        fill(bytes, address);
        return bytes.hasRemaining() ? NOTHING : bytes.array();
    }

    /// Reads as much as there is.
    private void fill(ByteBuffer bytes, long address) {
        try {
            if (memory != null && address > 0) {
                memory.read(bytes, address);
            }
        } catch (IOException _) {
            // What has not been read stays remaining.
        }
    }

    /// The bytes from an address on, up to a zero; none when there is none among so many, or they cannot be read.
    public byte[] readToZero(long address, int most) {
        ByteBuffer bytes = ByteBuffer.allocate(most);
        fill(bytes, address);
        for (int i = 0; i < bytes.position(); i++) {
            if (bytes.get(i) == 0) {
                return Arrays.copyOf(bytes.array(), i);
            }
        }
        return NOTHING;
    }

    /// Numbers at an address; none when they cannot be read, as of a process that has ended.
    public static long[] longs(int pid, long addr, int count) {
        try (ProcessMemory memory = of(pid)) {
            byte[] bytes = memory.read(addr, 8 * count);
            long[] longs = new long[bytes.length / 8];
            ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(longs);
            return longs;
        }
    }

    /// Numbers at many addresses, by address; those that cannot be read are not among them.
    ///
    /// @param addrs in ascending order
    public static Map<Long, Long> longsAt(int pid, List<Long> addrs) {
        Map<Long, Long> values = new HashMap<>();
        ByteBuffer window = ByteBuffer.allocate(WINDOW).order(ByteOrder.LITTLE_ENDIAN);
        try (ProcessMemory memory = of(pid)) {
            long start = 0;
            window.limit(0);
            for (long addr : addrs) {
                if (!holds(window, start, addr)) {
                    start = addr;
                    window.clear();
                    memory.fill(window, addr);
                    window.flip();
                }
                if (holds(window, start, addr)) {
                    values.put(addr, window.getLong((int) (addr - start)));
                }
            }
        }
        return values;
    }

    /// Whether the number at an address is in what was read from `start` on. Both may be any at all.
    private static boolean holds(ByteBuffer window, long start, long addr) {
        return addr >= start
                && window.limit() >= Long.BYTES
                && Long.compareUnsigned(addr - start, window.limit() - Long.BYTES) <= 0;
    }

    @Override
    public void close() {
        try {
            if (memory != null) {
                memory.close();
            }
        } catch (IOException _) {
            // Nothing was written.
        }
    }
}
