package io.dyber.zernel.record;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A file that a process maps executable.
///
/// @param identity device and inode: one uprobe covers the file wherever it is mapped
/// @param path as the process sees it
/// @param opened the same file as seen from here
/// @param program whether it is the main program of the process
record MappedFile(String identity, String path, Path opened, boolean program) {

    /// The files of a process; none when it is gone or may not be read.
    static List<MappedFile> of(int pid) {
        List<MappedFile> files = new ArrayList<>();
        String before = "";
        try {
            Path root = rootOf(pid);
            String exe = Files.readSymbolicLink(Path.of("/proc/" + pid + "/exe")).toString();
            for (String line : Files.readAllLines(Path.of("/proc/" + pid + "/maps"))) {
                String[] fields = line.split(" +", 6);
                boolean file = fields.length == 6 && fields[1].contains("x") && fields[5].startsWith("/");
                if (file && !fields[5].equals(before) && !fields[5].endsWith(" (deleted)")) {
                    before = fields[5];
                    add(files, before, root.resolve(before.substring(1)), before.equals(exe));
                }
            }
        } catch (IOException _) {
            return files;
        }
        return files;
    }

    private static void add(List<MappedFile> files, String path, Path opened, boolean program) throws IOException {
        try {
            files.add(new MappedFile(identity(opened), path, opened, program));
        } catch (NoSuchFileException _) {
            // Replaced or removed since it was mapped.
            return;
        }
    }

    /// A file that no process needs to have mapped yet, if it exists.
    static Optional<MappedFile> at(Path path, boolean program) {
        try {
            return Optional.of(new MappedFile(identity(path), path.toString(), path, program));
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    private static String identity(Path file) throws IOException {
        Map<String, Object> attributes = Files.readAttributes(file, "unix:dev,ino");
        return attributes.get("dev") + ":" + attributes.get("ino");
    }

    private static Path rootOf(int pid) throws IOException {
        String namespace = "/ns/mnt";
        boolean same = Files.readSymbolicLink(Path.of("/proc/self" + namespace))
                .equals(Files.readSymbolicLink(Path.of("/proc/" + pid + namespace)));
        return same ? Path.of("/") : Path.of("/proc/" + pid + "/root");
    }
}
