package io.dyber.zernel.record.activity;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/// What the library in one process hands over: the other side of `ring.h`, which says the same offsets.
///
/// The process can write anything into it at any time, so nothing is taken on trust: a ring that makes no sense is
/// [#isBroken] from then on. It belongs to the thread that opened it.
final class ActivityRing implements AutoCloseable {
    /// `ZERNLG1`
    static final long MAGIC = 0x31474c4e52455aL;

    static final int KERNEL = 1;
    static final int COPY = 2;
    static final int FILL = 3;
    static final int CALL = 4;
    static final int NAME = 5;
    static final int CLOCK = 6;
    static final int SWITCH = 7;

    private static final int HEADER = 4096;
    private static final int RECORD = 8;
    private static final int STATE = 12;
    private static final int VERSION = 24;
    private static final int HEAD = 64;
    private static final int TAIL = 128;
    private static final int LOST = 192;
    private static final int OVERHEAD = 256;
    private static final int WHY = 320;
    private static final int WHY_SIZE = 256;
    private static final int LIBRARY = 576;
    private static final int LIBRARY_SIZE = 512;

    private static final VarHandle LONG = JAVA_LONG.varHandle();
    private static final VarHandle INT = JAVA_INT.varHandle();

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment memory;
    private final int pid;
    private final long size;
    private boolean broken;

    /// What the process says of itself, as in `enum ring_state`.
    enum State {
        STARTING,
        OFF,
        ON,
        ASIDE,
        FAILED,
        ENDED
    }

    /// Takes the records in the order in which they were written.
    interface Reader {
        /// A record.
        ///
        /// @param at of its first field, behind size and type
        /// @param bytes of its fields
        void record(int type, MemorySegment data, long at, int bytes);
    }

    /// Maps a ring.
    ///
    /// @param bytes that a ring was asked to have
    /// @throws IOException when the file is something else
    ActivityRing(Path file, long bytes) throws IOException {
        try (FileChannel channel = FileChannel.open(
                file, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS))) {
            if (channel.size() != HEADER + bytes) {
                throw new IOException("it has " + channel.size() + " bytes");
            }
            memory = channel.map(FileChannel.MapMode.READ_WRITE, 0, HEADER + bytes, arena);
        } catch (IOException e) {
            arena.close();
            throw e;
        }
        pid = memory.get(JAVA_INT, 8);
        size = bytes;
        if ((long) LONG.getAcquire(memory, 0L) != MAGIC || memory.get(JAVA_LONG, 16) != bytes) {
            arena.close();
            throw new IOException("it is no ring");
        }
    }

    int pid() {
        return pid;
    }

    State state() {
        int state = (int) INT.getAcquire(memory, (long) STATE);
        return state >= 0 && state < State.values().length ? State.values()[state] : State.FAILED;
    }

    /// Whether it makes no sense.
    boolean isBroken() {
        return broken;
    }

    /// Why the process records nothing.
    String why() {
        return text(WHY, WHY_SIZE);
    }

    /// The path of its CUPTI.
    String library() {
        return text(LIBRARY, LIBRARY_SIZE);
    }

    /// The version of CUPTI's interface.
    int version() {
        return memory.get(JAVA_INT, VERSION);
    }

    /// A counter of `enum lost_what`.
    long lost(int what) {
        return memory.get(JAVA_LONG, LOST + 8L * what);
    }

    /// What CUPTI says that it cost the process.
    long overheadNanos() {
        return memory.get(JAVA_LONG, OVERHEAD);
    }

    private String text(int at, int length) {
        byte[] bytes = memory.asSlice(at, length).toArray(JAVA_BYTE);
        int end = 0;
        while (end < length && bytes[end] != 0) {
            end++;
        }
        return new String(bytes, 0, end, StandardCharsets.UTF_8);
    }

    /// Hands over what is there.
    ///
    /// @return whether there was something
    boolean read(Reader reader) {
        if (broken) {
            return false;
        }
        try {
            return readThrough(reader);
        } catch (InternalError _) {
            // The file was made shorter.
            broken = true;
            return false;
        }
    }

    private boolean readThrough(Reader reader) {
        long tail = memory.get(JAVA_LONG, TAIL);
        long head = (long) LONG.getAcquire(memory, (long) HEAD);
        if (tail == head) {
            return false;
        }
        if (head - tail < 0 || head - tail > size || tail % RECORD != 0) {
            broken = true;
            return false;
        }
        while (tail < head) {
            long at = HEADER + (tail & (size - 1));
            int bytes = memory.get(JAVA_INT, at);
            int type = memory.get(JAVA_INT, at + 4);
            if (bytes < RECORD + fields(type) || bytes % RECORD != 0 || bytes > head - tail || at + bytes > HEADER + size) {
                broken = true;
                return true;
            }
            reader.record(type, memory, at + RECORD, bytes - RECORD);
            tail += bytes;
        }
        LONG.setRelease(memory, (long) TAIL, tail);
        return true;
    }

    /// Bytes that the fields of a record have at least.
    private static int fields(int type) {
        return switch (type) {
            case KERNEL -> 56;
            case COPY, FILL -> 40;
            case CLOCK -> 24;
            case CALL, SWITCH -> 16;
            case NAME -> 8;
            default -> 0;
        };
    }

    @Override
    public void close() {
        arena.close();
    }
}
