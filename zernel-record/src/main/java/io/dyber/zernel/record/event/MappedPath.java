package io.dyber.zernel.record.event;

import java.util.Optional;

/// Knows which file a process maps.
@FunctionalInterface
public interface MappedPath {
    /// The path of the mapped file with this device and inode number; none if the process has ended or unmapped it.
    ///
    /// @param device as the kernel numbers devices: major number above the lowest 20 bits
    Optional<String> find(int pid, int device, long inode);
}
