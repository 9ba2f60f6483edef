package io.dyber.zernel.record.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// A file that a process maps, whether as code or as data.
///
/// @param device as the kernel numbers devices: major number above the lowest 20 bits
public record MappedInode(int device, long inode, String path) {
    /// Those of a process, once for each mapping; none if it has ended or may not be looked at.
    public static List<MappedInode> allOf(int pid) {
        try (Stream<String> lines = Files.lines(Path.of("/proc", Integer.toString(pid), "maps"))) {
            return lines.map(Mapping::parse)
                    .filter(mapping -> mapping != null && mapping.isOfFile())
                    .map(mapping -> new MappedInode(
                            mapping.deviceNumber(), Long.parseUnsignedLong(mapping.inode()), mapping.path()))
                    .toList();
        } catch (IOException | UncheckedIOException _) {
            return List.of();
        }
    }

    /// The path of the file with this device and inode number that a process maps. Stacked file systems show another
    /// device there than the file's own; then the inode number must do.
    public static Optional<String> pathOf(int pid, int device, long inode) {
        List<MappedInode> found =
                allOf(pid).stream().filter(file -> file.inode() == inode).toList();
        return found.stream()
                .filter(file -> file.device() == device)
                .findFirst()
                .or(() -> found.stream().findFirst())
                .map(MappedInode::path);
    }
}
