package io.dyber.zernel.record.process;

import java.nio.file.Files;
import java.nio.file.Path;

/// A file that a process maps as code.
///
/// @param identity device and inode: one uprobe covers the file in every process that maps it
/// @param path as the process sees it
/// @param opened where the same file can be opened from here, perhaps only while the process lives
/// @param program whether it is the main program of the process
/// @param deleted whether its name is gone: it was replaced while in use, or never had one (memfd)
public record MappedFile(String identity, String path, Path opened, boolean program, boolean deleted) {
    /// Whether it could be opened only through a process that has ended meanwhile. Another process may still map it.
    public boolean isGone() {
        return opened.startsWith("/proc")
                && opened.getNameCount() > 1
                && !Files.exists(Path.of("/proc").resolve(opened.getName(1)));
    }
}
