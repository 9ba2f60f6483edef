package io.dyber.zernel.record.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// In which cgroup a process is, by the lines `HIERARCHY:CONTROLLERS:PATH` of `/proc/PID/cgroup`.
public final class CgroupPath {
    private CgroupPath() {}

    /// Its path below the mount, as this process sees it: `/system.slice/ssh.service`; empty where it may not be read. It is that
    /// of version 2, or where that has none for it, of version 1's memory controller.
    static String of(Path proc) {
        try {
            return of(Files.readAllLines(proc.resolve("cgroup"), StandardCharsets.UTF_8));
        } catch (IOException _) {
            return "";
        }
    }

    static String of(List<String> lines) {
        String memory = ofController(lines, "memory").orElse("");
        String unified = unified(lines);
        return memory.length() > unified.length() ? memory : unified;
    }

    /// Its path in the hierarchy of version 1 that has a controller; empty where none has.
    public static Optional<String> ofController(List<String> lines, String controller) {
        return paths(lines, parts -> List.of(parts[1].split(",")).contains(controller)).findFirst();
    }

    /// Its path in version 2; the empty text where that is not mounted.
    public static String unified(List<String> lines) {
        return paths(lines, parts -> parts[0].equals("0")).findFirst().orElse("");
    }

    private static Stream<String> paths(List<String> lines, Predicate<String[]> wanted) {
        return lines.stream()
                .map(line -> line.split(":", 3))
                .filter(parts -> parts.length == 3 && wanted.test(parts))
                .map(parts -> parts[2]);
    }
}
