package io.dyber.zernel.record;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

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
                    Path opened = root.resolve(before.substring(1));
                    files.add(new MappedFile(
                            fields[3] + ":" + fields[4], before, opened, before.equals(exe)));
                }
            }
        } catch (IOException _) {
            return files;
        }
        return files;
    }

    private static Path rootOf(int pid) throws IOException {
        String namespace = "/ns/mnt";
        boolean same = Files.readSymbolicLink(Path.of("/proc/self" + namespace))
                .equals(Files.readSymbolicLink(Path.of("/proc/" + pid + namespace)));
        return same ? Path.of("/") : Path.of("/proc/" + pid + "/root");
    }
}
