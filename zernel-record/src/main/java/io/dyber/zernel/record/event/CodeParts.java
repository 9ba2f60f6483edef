package io.dyber.zernel.record.event;

import java.util.List;

/// What the kernel side has read of a code object of Python when it first saw a frame run it.
///
/// @param runtime address of the interpreter's state
/// @param address of the code object
/// @param parts of the memory of the process at that time
public record CodeParts(int pid, long runtime, long address, List<Part> parts) {
    public CodeParts {
        parts = List.copyOf(parts);
    }

    /// Bytes at an address.
    @SuppressWarnings("ArrayRecordComponent")
    public record Part(long address, byte[] bytes) {}
}
