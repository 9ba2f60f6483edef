package io.dyber.zernel.record.elf;

/// A program header: a stretch of the file and where it is loaded.
///
/// @param type a `PT_` constant
record Segment(int type, boolean executable, long offset, long address, long fileSize, long align) {
    static final int LOAD = 1;
    static final int DYNAMIC = 2;
    static final int NOTE = 4;

    /// Whether the byte for `virtualAddress` is in the file.
    boolean covers(long virtualAddress) {
        return Long.compareUnsigned(virtualAddress - address, fileSize) < 0;
    }
}
