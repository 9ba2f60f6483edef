package io.dyber.zernel.record.bpf;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// Reads a BPF ring buffer from its mapped pages, without libbpf and without being woken.
///
/// Layout and memory ordering as in the kernel's `kernel/bpf/ringbuf.c`: one page with the consumer position, one
/// with the producer position, then the data twice in a row so that a record never wraps. One thread reads.
public final class RingBuffer implements AutoCloseable {
    private static final VarHandle POSITION = ValueLayout.JAVA_LONG.varHandle();
    private static final int HEADER_SIZE = 8;
    private static final int READER_NICE = -15;

    /// Room is given back in pieces: at every record it would slow the producers down, only at the end a long drain
    /// would look like a full ring to them.
    private static final long PUBLISH_BYTES = 256 << 10;

    /// Of the data's second copy only so much is mapped: a process is said to have all that it maps.
    private static final long LARGEST_RECORD = 128 << 10;
    private static final int BUSY = 1 << 31;
    private static final int DISCARDED = 1 << 30;

    /// Takes one record.
    @FunctionalInterface
    public interface Consumer {
        /// Called for each record, in order.
        ///
        /// @param data valid only during the call; a buffer, because what C1 compiles reads a segment a third
        ///     slower
        /// @param at where the record begins in `data`
        void accept(ByteBuffer data, int at, int length);
    }

    private final int fd;
    private final Arena arena;
    private final MemorySegment consumer;
    private final MemorySegment producer;
    private final ByteBuffer data;
    private final long mask;
    private long highWater;

    private RingBuffer(int fd, Arena arena, MemorySegment consumer, MemorySegment producer, MemorySegment data, long size) {
        this.fd = fd;
        this.arena = arena;
        this.consumer = consumer;
        this.producer = producer;
        this.data = data.asByteBuffer().order(ByteOrder.nativeOrder());
        this.mask = size - 1;
    }

    /// Maps the pages of a ring map.
    ///
    /// @param size of the ring in bytes, a power of two
    public static RingBuffer map(BpfMap map, long size) {
        long page = Libc.pageSize();
        Arena arena = Arena.ofShared();
        try {
            MemorySegment consumer = Libc.map(map.fd(), 0, page, Libc.PROT_READ | Libc.PROT_WRITE, arena);
            long mapped = page + size + Math.min(size, LARGEST_RECORD);
            MemorySegment rest = Libc.map(map.fd(), page, mapped, Libc.PROT_READ, arena);
            return new RingBuffer(map.fd(), arena, consumer, rest.asSlice(0, page), rest.asSlice(page), size);
        } catch (RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    /// A ring over memory that is not mapped; for reading a ring image.
    public static RingBuffer over(MemorySegment consumer, MemorySegment producer, MemorySegment data) {
        return new RingBuffer(-1, Arena.ofShared(), consumer, producer, data, data.byteSize() / 2);
    }

    /// Lets the calling thread run before ordinary ones, so that the rings are emptied also when every CPU is busy.
    /// False when this user may not (CAP_SYS_NICE); then nothing changes.
    public static boolean hurry() {
        return Libc.nice(READER_NICE);
    }

    /// Where the producers are now: everything before this position was reserved before the call.
    public long producerPosition() {
        return (long) POSITION.getAcquire(producer, 0L);
    }

    /// Waits for a record whose program wakes its reader, so many milliseconds at most.
    public void await(int millis) {
        Libc.await(fd, millis);
    }

    /// Hands on all records there are, as [#drain].
    public int drain(Consumer taker) {
        return drain(producerPosition(), taker);
    }

    /// Up to where the records have been taken.
    public long consumerPosition() {
        return (long) POSITION.get(consumer, 0L);
    }

    /// Drops what is in the ring. Nobody may be sending.
    public void discard() {
        POSITION.setRelease(consumer, 0L, producerPosition());
    }

    /// Hands on the records up to a producer position and gives their room back. Stops early at a record whose
    /// producer was interrupted while writing it; the next call goes on there.
    ///
    /// @return how many records were taken
    public int drain(long until, Consumer taker) {
        long position = (long) POSITION.get(consumer, 0L);
        highWater = Math.max(highWater, producerPosition() - position);
        long published = position;
        int taken = 0;
        while (position < until) {
            int at = (int) (position & mask);
            int header = data.getInt(at);
            VarHandle.acquireFence();
            if ((header & BUSY) != 0) {
                break;
            }
            int length = header & ~(BUSY | DISCARDED);
            if ((header & DISCARDED) == 0) {
                taker.accept(data, at + HEADER_SIZE, length);
                taken++;
            }
            position += (length + HEADER_SIZE + 7L) & ~7L;
            if (position - published >= PUBLISH_BYTES) {
                POSITION.setRelease(consumer, 0L, position);
                published = position;
            }
        }
        POSITION.setRelease(consumer, 0L, position);
        return taken;
    }

    /// The most bytes that were waiting when a drain began.
    public long highWater() {
        return highWater;
    }

    public long size() {
        return mask + 1;
    }

    @Override
    public void close() {
        arena.close();
    }
}
