package org.apache.arrow.memory.unsafe;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.apache.arrow.memory.AllocationManager;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.ReferenceManager;

/// Arrow's memory from java.lang.foreign: no Netty and no `sun.misc.Unsafe` artifact.
///
/// Arrow looks the default manager up by this very class name, so the package cannot be ours.
public final class DefaultAllocationManagerFactory implements AllocationManager.Factory {
    /// The name that Arrow reads by reflection.
    public static final AllocationManager.Factory FACTORY = new DefaultAllocationManagerFactory();

    @Override
    public AllocationManager create(BufferAllocator accountant, long size) {
        return new ForeignMemory(accountant, size);
    }

    @Override
    public ArrowBuf empty() {
        return new ArrowBuf(ReferenceManager.NO_OP, null, 0, Arena.global().allocate(8, 8).address());
    }

    private static final class ForeignMemory extends AllocationManager {
        private final Arena arena = Arena.ofShared();
        private final MemorySegment segment;

        ForeignMemory(BufferAllocator accountant, long size) {
            super(accountant);
            segment = arena.allocate(Math.max(size, 1), 64);
        }

        @Override
        public long getSize() {
            return segment.byteSize();
        }

        @Override
        protected long memoryAddress() {
            return segment.address();
        }

        @Override
        protected void release0() {
            arena.close();
        }
    }
}
