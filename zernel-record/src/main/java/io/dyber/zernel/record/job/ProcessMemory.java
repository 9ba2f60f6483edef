package io.dyber.zernel.record.job;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// Reads the memory of a recorded process where a call has said that something lies.
final class ProcessMemory {
    private ProcessMemory() {}

    /// Numbers at an address; none when they cannot be read, as of a process that has ended.
    static long[] longs(int pid, long addr, int count) {
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
}
