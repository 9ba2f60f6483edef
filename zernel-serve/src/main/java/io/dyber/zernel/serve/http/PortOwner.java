package io.dyber.zernel.serve.http;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/// Which process listens on a port of this machine, as far as `/proc` shows it to us.
public final class PortOwner {
    private static final String LISTENING = "0A";
    private static final int LOCAL_ADDRESS = 1;
    private static final int STATE = 3;
    private static final int INODE = 9;

    private PortOwner() {}

    /// E.g. `python3 (pid 4711)`; empty when it belongs to another user, or to none.
    public static Optional<String> of(int port) {
        Set<String> sockets = new HashSet<>();
        for (String table : List.of("tcp", "tcp6")) {
            sockets.addAll(listening(Path.of("/proc/net", table), port));
        }
        if (sockets.isEmpty()) {
            return Optional.empty();
        }
        try (Stream<Path> processes = Files.list(Path.of("/proc"))) {
            return processes
                    .filter(process -> process.getFileName().toString().matches("\\d+"))
                    .filter(process -> holds(process.resolve("fd"), sockets))
                    .findFirst()
                    .map(process -> name(process) + " (pid " + process.getFileName() + ")");
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    private static List<String> listening(Path table, int port) {
        String suffix = ":%04X".formatted(port);
        try (Stream<String> lines = Files.lines(table)) {
            return lines.map(line -> line.strip().split("\\s+"))
                    .filter(fields -> fields.length > INODE
                            && fields[LOCAL_ADDRESS].endsWith(suffix)
                            && fields[STATE].equals(LISTENING))
                    .map(fields -> "socket:[" + fields[INODE] + "]")
                    .toList();
        } catch (IOException _) {
            return List.of();
        }
    }

    private static boolean holds(Path descriptors, Set<String> sockets) {
        try (Stream<Path> open = Files.list(descriptors)) {
            return open.anyMatch(descriptor -> sockets.contains(target(descriptor)));
        } catch (IOException _) {
            return false;
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException _) {
            return "";
        }
    }

    private static String name(Path process) {
        try {
            return Files.readString(process.resolve("comm")).strip();
        } catch (IOException _) {
            return "a process";
        }
    }
}
