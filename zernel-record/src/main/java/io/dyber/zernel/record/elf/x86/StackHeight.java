package io.dyber.zernel.record.elf.x86;

/// How far the stack has grown at an instruction.
///
/// @param unknownFrame whether `bytes` are counted from a frame whose size is not known instead of from the function's start
record StackHeight(boolean unknownFrame, int bytes) {
    static final StackHeight AT_START = new StackHeight(false, 0);
    static final StackHeight OF_A_FRAME = new StackHeight(true, 0);

    /// So many bytes above the function's start.
    static StackHeight known(int bytes) {
        return new StackHeight(false, bytes);
    }

    StackHeight plus(int more) {
        return new StackHeight(unknownFrame, bytes + more);
    }

    /// Whether the stack pointer may be what it was at the function's start. Of a frame of unknown size, something has been
    /// taken off then, and that may have been all.
    boolean mayBeAsAtStart() {
        return unknownFrame ? bytes < 0 : bytes <= 0;
    }
}
