package io.dyber.zernel.record.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/// What `/proc` says about a process at one moment. Processes end at any time; then there is nothing.
///
/// @param comm name of the main thread
/// @param exe path of the program, empty for a kernel thread or if it may not be read
/// @param commandLine empty for a kernel thread
/// @param environment ranks, job ids and the like that it was started with; nothing else of its environment
/// @param cgroup its path below the mount of cgroups; empty where it has none or may not be read
/// @param nice what its main thread leaves to others: from -20 to 19, which yields to all
/// @param uid the real user
/// @param startedTicks hundredths of a second between boot and start; tells a process from an earlier one with its pid
public record ProcessFacts(
        int pid,
        int parent,
        String comm,
        String exe,
        List<String> commandLine,
        Map<String, String> environment,
        String cgroup,
        int nice,
        int uid,
        long startedTicks) {
    private static final Path PROC = Path.of("/proc");
    private static final long NANOS_PER_TICK = 10_000_000;

    public ProcessFacts {
        commandLine = List.copyOf(commandLine);
        environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
    }

    /// The facts about a process; none if it has ended, even if nobody has waited for it yet.
    public static Optional<ProcessFacts> of(int pid) {
        Path proc = PROC.resolve(Integer.toString(pid));
        try {
            Stat stat = Stat.read(proc);
            if (stat.isOver()) {
                return Optional.empty();
            }
            return Optional.of(new ProcessFacts(
                    pid,
                    stat.parent(),
                    stat.comm(),
                    exe(proc),
                    commandLine(proc),
                    JobEnvironment.of(proc),
                    CgroupPath.of(proc),
                    stat.nice(),
                    uid(proc),
                    stat.startedTicks()));
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    /// Whether there are facts about it.
    public static boolean isAlive(int pid) {
        try {
            return !Stat.read(PROC.resolve(Integer.toString(pid))).isOver();
        } catch (IOException _) {
            return false;
        }
    }

    /// All processes on this machine.
    public static Set<Integer> everyPid() {
        Set<Integer> pids = new TreeSet<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(PROC, "[0-9]*")) {
            for (Path entry : entries) {
                pids.add(Integer.parseInt(entry.getFileName().toString()));
            }
        } catch (IOException _) {
            return pids;
        }
        return pids;
    }

    /// The children of a process, their children and so on, parents before children.
    public static List<Integer> descendantsOf(int pid) {
        Map<Integer, List<Integer>> children = new HashMap<>();
        for (int candidate : everyPid()) {
            try {
                int parent = Stat.read(PROC.resolve(Integer.toString(candidate))).parent();
                children.computeIfAbsent(parent, _ -> new ArrayList<>()).add(candidate);
            } catch (IOException _) {
                // It has ended.
            }
        }
        List<Integer> descendants = new ArrayList<>();
        Deque<Integer> open = new ArrayDeque<>(List.of(pid));
        while (!open.isEmpty()) {
            List<Integer> found = children.getOrDefault(open.remove(), List.of());
            descendants.addAll(found);
            open.addAll(found);
        }
        return descendants;
    }

    /// When the process started, to about 10 ms.
    public Instant started() {
        try {
            String uptime = Files.readString(PROC.resolve("uptime"));
            double seconds = Double.parseDouble(uptime.substring(0, uptime.indexOf(' ')));
            return Instant.now().minusNanos((long) (seconds * 1e9) - startedTicks * NANOS_PER_TICK);
        } catch (IOException _) {
            return Instant.now();
        }
    }

    private static String exe(Path proc) {
        try {
            return Files.readSymbolicLink(proc.resolve("exe")).toString();
        } catch (IOException _) {
            return "";
        }
    }

    private static List<String> commandLine(Path proc) throws IOException {
        String line = new String(Files.readAllBytes(proc.resolve("cmdline")), StandardCharsets.UTF_8);
        return line.isEmpty() ? List.of() : List.of(line.split("\0"));
    }

    private static int uid(Path proc) throws IOException {
        return (Integer) Files.getAttribute(proc.resolve("task"), "unix:uid");
    }

    /// The fields of `/proc/PID/stat` that are used here. The name may hold blanks and parentheses.
    private record Stat(String comm, String state, int parent, int nice, long startedTicks) {
        boolean isOver() {
            return state.equals("Z") || state.equals("X");
        }

        static Stat read(Path proc) throws IOException {
            String line = new String(Files.readAllBytes(proc.resolve("stat")), StandardCharsets.UTF_8);
            int open = line.indexOf('(');
            int close = line.lastIndexOf(')');
            String[] fields = close < 0 ? new String[0] : line.substring(close + 1).strip().split(" ");
            if (open < 0 || fields.length < 20) {
                throw new IOException("ended while being read");
            }
            return new Stat(
                    line.substring(open + 1, close),
                    fields[0],
                    Integer.parseInt(fields[1]),
                    Integer.parseInt(fields[16]),
                    Long.parseLong(fields[19]));
        }
    }
}
