package io.dyber.zernel.record.job;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Reads the memory of a recorded process where a call has said that something lies.
public final class ProcessMemory {
    private static final int WINDOW = 64 << 10;

    private ProcessMemory() {}

    /// Numbers at an address; none when they cannot be read, as of a process that has ended.
    public static long[] longs(int pid, long addr, int count) {
        ByteBuffer bytes = ByteBuffer.allocate(8 * count).order(ByteOrder.LITTLE_ENDIAN);
        try (FileChannel memory =
                FileChannel.open(Path.of("/proc/" + pid + "/mem"), StandardOpenOption.READ)) {
            if (addr <= 0 || memory.read(bytes, addr) < bytes.capacity()) {
                return new long[0];
            }
        } catch (IOException _) {
            return new long[0];
        }
        long[] longs = new long[count];
        bytes.flip().asLongBuffer().get(longs);
        return longs;
    }

    /// Numbers at many addresses, by address; those that cannot be read are not among them.
    ///
    /// @param addrs in ascending order
    public static Map<Long, Long> longsAt(int pid, List<Long> addrs) {
        Map<Long, Long> values = new HashMap<>();
        ByteBuffer window = ByteBuffer.allocate(WINDOW).order(ByteOrder.LITTLE_ENDIAN);
        try (FileChannel memory =
                FileChannel.open(Path.of("/proc/" + pid + "/mem"), StandardOpenOption.READ)) {
            long start = 0;
            window.limit(0);
            for (long addr : addrs) {
                if (addr < start || addr + 8 > start + window.limit()) {
                    start = addr;
                    window.clear();
                    memory.read(window, addr);
                    window.flip();
                }
                if (addr + 8 <= start + window.limit()) {
                    values.put(addr, window.getLong((int) (addr - start)));
                }
            }
        } catch (IOException _) {
            return values;
        }
        return values;
    }
}
