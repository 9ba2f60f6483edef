package io.dyber.zernel.record.process;

/// The memory of a process.
@FunctionalInterface
public interface Memory {
    /// Bytes from an address on: all that were asked for, or none when not all of them can be read.
    byte[] read(long address, int size);
}
