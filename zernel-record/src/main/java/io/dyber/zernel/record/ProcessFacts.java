package io.dyber.zernel.record;

import io.dyber.zernel.record.bpf.Clock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/// What `/proc` says about a process at one moment. Processes vanish at any time; then there is nothing.
///
/// @param startedTicks clock ticks since boot, tells a reused pid from the old one
record ProcessFacts(int parent, String comm, String exe, List<String> commandLine, long startedTicks, long seenNanos) {
    private static final long NANOS_PER_TICK = 10_000_000L;
    private static final long YOUNG_NANOS = 2_000_000_000L;

    static Optional<ProcessFacts> of(int pid) {
        try {
            Path proc = Path.of("/proc/" + pid);
            String stat = Files.readString(proc.resolve("stat"));
            int close = stat.lastIndexOf(')');
            String[] fields = stat.substring(close + 2).split(" ", -1);
            if (fields[0].equals("Z") || fields[0].equals("X")) {
                return Optional.empty();
            }
            return Optional.of(new ProcessFacts(
                    Integer.parseInt(fields[1]),
                    stat.substring(stat.indexOf('(') + 1, close),
                    exe(proc),
                    commandLine(proc),
                    Long.parseLong(fields[19]),
                    System.nanoTime()));
        } catch (IOException _) {
            return Optional.empty();
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

    /// Processes on this machine, of every user.
    static Set<Integer> everyPid() {
        Set<Integer> pids = new TreeSet<>();
        try (Stream<Path> entries = Files.list(Path.of("/proc"))) {
            entries.map(path -> path.getFileName().toString())
                    .filter(name -> Character.isDigit(name.charAt(0)))
                    .forEach(name -> pids.add(Integer.parseInt(name)));
        } catch (IOException _) {
            return pids;
        }
        return pids;
    }

    static List<Integer> childrenOf(int pid) {
        return everyPid().stream()
                .filter(candidate ->
                        of(candidate).map(facts -> facts.parent == pid).orElse(false))
                .toList();
    }

    /// Whether names and command line may not have settled yet.
    boolean isYoung() {
        return System.nanoTime() - seenNanos < YOUNG_NANOS;
    }

    /// Nanoseconds since the epoch, to a hundredth of a second; `/proc/PID/stat` counts ticks of that length.
    private long startedNanos() {
        long boot = System.currentTimeMillis() * 1_000_000L - Clock.bootNanos();
        return boot + startedTicks * NANOS_PER_TICK;
    }

    Map<String, Object> describe(int pid) {
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("pid", pid);
        row.put("ppid", parent);
        row.put("comm", comm);
        row.put("exe", exe);
        row.put("cmdline", commandLine);
        row.put("started_ns", startedNanos());
        return row;
    }
}
