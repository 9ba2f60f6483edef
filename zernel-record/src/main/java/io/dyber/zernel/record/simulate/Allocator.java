package io.dyber.zernel.record.simulate;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;

/// PyTorch's caching allocator: what is freed stays with it, and is handed out again for the same size.
final class Allocator {
    private static final long SMALL = 1 << 20;
    private static final long SMALL_SEGMENT = 2 << 20;
    private static final long LARGE = 10 << 20;
    private static final long LARGE_SEGMENT = 20 << 20;
    /// What a process has on its GPU beside the allocator: context, modules, workspaces.
    private static final long CONTEXT = 560L << 20;

    /// A piece of a segment that is handed out or cached.
    record Block(long addr, long bytes) {}

    private final Program program;
    private final Map<Long, Deque<Block>> cached = new TreeMap<>();
    private long smallAddr;
    private long smallLeft;
    private long largeAddr;
    private long largeLeft;
    private long nextAddr = 0x7f10_0000_0000L;
    private long allocatedBytes;
    private long reservedBytes;
    private long peakAllocatedBytes;
    private long peakReservedBytes;

    Allocator(Program program) {
        this.program = program;
    }

    Block allocate(long asked) {
        long bytes = Math.max(512, asked + 511 & ~511L);
        Deque<Block> free = cached.get(bytes);
        Block block = free == null || free.isEmpty() ? carve(bytes) : free.pop();
        allocatedBytes += bytes;
        peakAllocatedBytes = Math.max(peakAllocatedBytes, allocatedBytes);
        program.handOut(block);
        return block;
    }

    void free(Block block) {
        allocatedBytes -= block.bytes();
        program.takeBack(block);
        cached.computeIfAbsent(block.bytes(), _ -> new ArrayDeque<>()).push(block);
    }

    /// What of the device is in use, as the driver counts.
    long deviceBytes() {
        return CONTEXT + reservedBytes;
    }

    /// The most that tensors had at once.
    long peakAllocatedBytes() {
        return peakAllocatedBytes;
    }

    /// The most of the device that was in use.
    long peakDeviceBytes() {
        return CONTEXT + peakReservedBytes;
    }

    /// `torch.cuda.empty_cache()`: gives cached segments back, after the GPU is done with them.
    void emptyCache() {
        for (Deque<Block> blocks : cached.values()) {
            blocks.removeIf(block -> {
                long segment = segmentBytes(block.bytes());
                if (block.bytes() > LARGE) {
                    reservedBytes -= segment;
                    program.cudaFree(block.addr(), segment);
                }
                return block.bytes() > LARGE;
            });
        }
    }

    private Block carve(long bytes) {
        if (bytes > LARGE) {
            return new Block(segment(segmentBytes(bytes)), bytes);
        }
        if (bytes > SMALL) {
            if (largeLeft < bytes) {
                largeAddr = segment(LARGE_SEGMENT);
                largeLeft = LARGE_SEGMENT;
            }
            largeAddr += bytes;
            largeLeft -= bytes;
            return new Block(largeAddr - bytes, bytes);
        }
        if (smallLeft < bytes) {
            smallAddr = segment(SMALL_SEGMENT);
            smallLeft = SMALL_SEGMENT;
        }
        smallAddr += bytes;
        smallLeft -= bytes;
        return new Block(smallAddr - bytes, bytes);
    }

    private static long segmentBytes(long bytes) {
        return bytes + SMALL_SEGMENT - 1 & -SMALL_SEGMENT;
    }

    private long segment(long bytes) {
        long addr = nextAddr;
        nextAddr += bytes;
        reservedBytes += bytes;
        peakReservedBytes = Math.max(peakReservedBytes, reservedBytes);
        program.cudaMalloc(addr, bytes);
        return addr;
    }
}
