package io.dyber.zernel.record.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.Reference;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/// The code that processes map, read from `/proc/PID/maps`.
///
/// Listing the mappings of thousands of processes each second would cost a good part of a CPU. So [#changed] looks
/// at a process's size first, which is cheap and which loading a library changes. It looks at the list itself only
/// when the size is another one, once more after that, and when [#TRUST_NANOS] have passed. Once more, because the
/// loader reserves the whole size of a library before it maps its code. A process that ends meanwhile maps nothing.
///
/// Not thread-safe.
public final class MappedFiles {
    private static final long TRUST_NANOS = 30_000_000_000L;
    private static final int MOST_LOOKS = 50_000;
    private static final String DELETED = " (deleted)";
    private static final Path PROC = Path.of("/proc");

    /// @param settled whether the list was read twice at this size
    private record Look(long sizePages, boolean settled, long untilNanos) {}

    private final Map<Integer, Look> looks = new HashMap<>();
    private final ProcFile statm = new ProcFile();
    private final Optional<Path> ownNamespace = link(PROC.resolve("self/ns/mnt"));

    /// The files that a process maps as code; none if nothing has changed since the last calls for this process, or
    /// if the process has ended or may not be looked at.
    public List<MappedFile> changed(int pid) {
        long size = statm.firstNumber("/proc/" + pid + "/statm");
        long now = System.nanoTime();
        Look before = looks.get(pid);
        if (size <= 0) { // ended, or a kernel thread
            looks.remove(pid);
            return List.of();
        }
        if (looks.size() > MOST_LOOKS) { // most of them of processes that have ended
            looks.clear();
        }
        boolean same = before != null && before.sizePages == size;
        if (before != null && same && before.settled && now - before.untilNanos < 0) {
            return List.of();
        }
        // Spread, so that the processes found at the start are not all read again in the same second.
        long trust = before == null ? TRUST_NANOS / 2 + (pid & 1023) * (TRUST_NANOS / 2048) : TRUST_NANOS;
        looks.put(pid, new Look(size, same, now + trust));
        return of(pid);
    }

    /// A file that no process needs to have mapped yet, as [#of] would list it; none if it cannot be read.
    ///
    public static Optional<MappedFile> at(Path path, boolean program) {
        return at(path, path.toString(), program);
    }

    /// The same for a file that processes see elsewhere.
    ///
    /// Its identity cannot be taken from `stat`: on overlayfs and btrfs, `maps` shows other numbers. So it is mapped.
    public static Optional<MappedFile> at(Path opened, String path, boolean program) {
        try (FileChannel channel = FileChannel.open(opened, StandardOpenOption.READ)) {
            // The last link of a way through /proc leads into our own root.
            String real = opened.startsWith(PROC) ? path : opened.toRealPath().toString();
            String inode = inodeOf(opened);
            String name = "/" + opened.getFileName();
            MappedByteBuffer mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, 1);
            try (Stream<String> lines = Files.lines(PROC.resolve("self/maps"))) {
                return lines.map(Mapping::parse)
                        .filter(mapping -> mapping != null
                                && (mapping.path().equals(real)
                                        || (mapping.path().endsWith(name) && mapping.inode().equals(inode))))
                        .findFirst()
                        .map(mapping -> new MappedFile(mapping.identity(), path, opened, program, false));
            } finally {
                Reference.reachabilityFence(mapped);
            }
        } catch (IOException | UncheckedIOException _) {
            return Optional.empty();
        }
    }

    /// A file that a process has just mapped as code; none if it cannot be opened any more.
    ///
    /// @param identity as the kernel told it: on some file systems, `maps` has another
    /// @param path in the mount namespace of the process
    public static Optional<MappedFile> loaded(int pid, String identity, String path, boolean program) {
        Path proc = PROC.resolve(Integer.toString(pid));
        if (path.startsWith("/")) {
            // Where the path is ours too, the file can be opened also when the process has ended meanwhile.
            Optional<Path> namespace = link(proc.resolve("ns/mnt"));
            boolean same = namespace.isEmpty() || namespace.equals(link(PROC.resolve("self/ns/mnt")));
            Path own = Path.of("/");
            Path theirs = proc.resolve("root");
            for (Path root : same ? List.of(own, theirs) : List.of(theirs)) {
                Path opened = root.resolve(path.substring(1));
                if (inode(opened).equals(identity.substring(identity.lastIndexOf(':') + 1))) {
                    // Where `maps` has another identity, it is the one by which the file is known.
                    Optional<MappedFile> listed = new MappedFiles()
                            .of(pid).stream().filter(file -> file.path().equals(path)).findFirst();
                    return Optional.of(listed.orElse(new MappedFile(identity, path, opened, program, false)));
                }
            }
        }
        String name = path.substring(path.lastIndexOf('/') + 1);
        return new MappedFiles()
                .of(pid).stream()
                        .filter(file -> file.identity().equals(identity)
                                || file.path().substring(file.path().lastIndexOf('/') + 1).equals(name))
                        .findFirst();
    }

    private static String inode(Path path) {
        try {
            return Files.isRegularFile(path) ? inodeOf(path) : "";
        } catch (IOException _) {
            return "";
        }
    }

    /// As `maps` has it: overlayfs, NFS and FUSE use all 64 bits.
    private static String inodeOf(Path path) throws IOException {
        return Long.toUnsignedString((Long) Files.getAttribute(path, "unix:ino"));
    }

    /// The files that a process maps as code, each once.
    public List<MappedFile> of(int pid) {
        Path proc = PROC.resolve(Integer.toString(pid));
        String maps;
        try {
            maps = new String(Files.readAllBytes(proc.resolve("maps")), StandardCharsets.UTF_8);
        } catch (IOException _) {
            return List.of();
        }
        String program = link(proc.resolve("exe")).map(Path::toString).orElse("");
        Optional<Path> root = rootOf(proc);
        List<MappedFile> files = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        maps.lines().forEach(line -> {
            Mapping mapping = Mapping.parse(line);
            if (mapping != null && mapping.isCodeOfFile() && seen.add(mapping.identity())) {
                files.add(file(proc, root, program, mapping));
            }
        });
        return files;
    }

    /// Where a process maps which files; empty if it has ended or may not be looked at.
    public AddressSpace addressSpace(int pid) {
        Path proc = PROC.resolve(Integer.toString(pid));
        String program = link(proc.resolve("exe")).map(Path::toString).orElse("");
        Optional<Path> root = rootOf(proc);
        List<AddressSpace.Region> regions = new ArrayList<>();
        try (Stream<String> lines = Files.lines(proc.resolve("maps"))) {
            lines.forEach(line -> {
                Mapping mapping = Mapping.parse(line);
                if (mapping != null && mapping.isOfFile()) {
                    regions.add(new AddressSpace.Region(
                            mapping.start(),
                            mapping.end(),
                            mapping.offset(),
                            mapping.isCodeOfFile(),
                            file(proc, root, program, mapping)));
                }
            });
        } catch (IOException | UncheckedIOException _) {
            return new AddressSpace(List.of());
        }
        return new AddressSpace(regions);
    }

    private static MappedFile file(Path proc, Optional<Path> root, String program, Mapping mapping) {
        boolean deleted = mapping.path().endsWith(DELETED);
        int end = mapping.path().length() - (deleted ? DELETED.length() : 0);
        String path = mapping.path().substring(0, end);
        Path opened = deleted
                ? proc.resolve("map_files").resolve(mapping.range())
                : root.map(dir -> dir.resolve(path.substring(1))).orElseGet(() -> Path.of(path));
        return new MappedFile(mapping.identity(), path, opened, mapping.path().equals(program), deleted);
    }

    /// Where the paths of a process start.
    public Path rootOf(int pid) {
        return rootOf(PROC.resolve(Integer.toString(pid))).orElse(Path.of("/"));
    }

    /// Where the paths of the process start, unless that is where ours start too.
    private Optional<Path> rootOf(Path proc) {
        Optional<Path> namespace = link(proc.resolve("ns/mnt"));
        Optional<Path> root = link(proc.resolve("root"));
        boolean same = namespace.isEmpty() || namespace.equals(ownNamespace);
        boolean plain = root.isEmpty() || root.get().equals(Path.of("/"));
        return same && plain ? Optional.empty() : Optional.of(proc.resolve("root"));
    }

    private static Optional<Path> link(Path link) {
        try {
            return Optional.of(Files.readSymbolicLink(link));
        } catch (IOException _) {
            return Optional.empty();
        }
    }
}
