package io.dyber.zernel.record.host;

import io.dyber.zernel.record.host.Cgroups.Limit;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Reads what the kernel counts of the machine and of the recorded processes. Not thread-safe.
///
/// Counters are handed on as they are, since the machine or the process started: what happened between two samples is
/// their difference, also when one in between is missing. No list of all processes is read.
public final class HostSampler implements AutoCloseable {
    /// Where `/proc` and `/sys` are, for tests: a system property.
    public static final String ROOT_PROPERTY = "zernel.host.root";

    /// Rounds between two looks at what seldom changes: limits, links, and who is large.
    private static final int SELDOM = 10;

    /// Rounds in which it is looked whether a new process binds itself to CPUs, as runtimes of OpenMP do.
    private static final int YOUNG = 10;

    private static final int HOST = HostValue.HOST;

    private final Path proc;
    private final LongSupplier clock;
    private final KernelFiles files = new KernelFiles();
    private final Cgroups cgroups;
    private final Links links;
    private final WatchedProcesses processes;
    private final SharedMemory shared;
    private List<HostValue> values = new ArrayList<>();
    private long now;
    private long rounds;

    /// @param root the folder of `proc` and `sys`
    /// @param clock gives the values their time
    public HostSampler(Path root, LongSupplier clock) {
        this.proc = root.resolve("proc");
        this.clock = clock;
        this.cgroups = new Cgroups(root);
        this.links = new Links(root, files);
        this.processes = new WatchedProcesses(proc);
        this.shared = new SharedMemory(System::nanoTime, HostSampler::ownCpuNanos);
    }

    /// What was left out so far.
    ///
    /// @param processes the most recorded ones at a time that were not sampled
    /// @param links that were not sampled
    /// @param refused how often a process was asked in vain what it shares
    public record LeftOut(int processes, int links, long refused) {}

    /// One round.
    ///
    /// @param recorded the recorded processes
    public List<HostValue> sample(Set<Integer> recorded) {
        values = new ArrayList<>();
        now = clock.getAsLong();
        boolean seldom = rounds % SELDOM == 0;
        rounds++;
        processes.update(recorded, seldom);
        CpuTimes cpus = files.text(proc.resolve("stat")).map(CpuTimes::parse).orElse(CpuTimes.parse(""));
        sampleMachine(cpus);
        if (seldom) {
            links.look();
            links.speeds(this::ofHost);
        }
        links.sample(this::ofHost);
        for (Watched process : processes.all()) {
            sample(process, cpus, seldom);
        }
        sampleCgroups();
        shared.sample(processes.all(), (process, pss, own) -> {
            ofProcess(process.pid(), "", "pss", pss, HostValue.BYTES);
            ofProcess(process.pid(), "", "private", own, HostValue.BYTES);
        });
        files.closeUnused();
        return List.copyOf(values);
    }

    /// CPU time of the calling thread so far: the first number of its `schedstat`.
    public static long ownCpuNanos() {
        try {
            return Long.parseLong(Files.readString(Path.of("/proc/thread-self/schedstat")).split(" ")[0]);
        } catch (IOException | NumberFormatException _) {
            return 0;
        }
    }

    public LeftOut leftOut() {
        return new LeftOut(processes.leftOut(), links.leftOut(), shared.refused());
    }

    private void sampleMachine(CpuTimes cpus) {
        if (!cpus.each().isEmpty()) {
            ofHost("", "cpus", cpus.each().size(), HostValue.COUNT);
            ofHost("", "cpu_busy", cpus.all().busyNanos(), HostValue.NANOS);
            ofHost("", "cpu_idle", cpus.all().idleNanos(), HostValue.NANOS);
            ofHost("", "cpu_iowait", cpus.all().waitingNanos(), HostValue.NANOS);
            ofHost("", "cpu_steal", cpus.all().stolenNanos(), HostValue.NANOS);
        }
        String memory = files.text(proc.resolve("meminfo")).orElse("");
        kilobytes("memory_total", KernelFile.field(memory, "MemTotal:"));
        kilobytes("memory_available", KernelFile.field(memory, "MemAvailable:"));
        tcp(files.text(proc.resolve("net/snmp")).orElse(""));
    }

    private void kilobytes(String name, OptionalLong value) {
        value.ifPresent(found -> ofHost("", name, found * 1024, HostValue.BYTES));
    }

    /// `/proc/net/snmp` has a line of names and one of values for each protocol.
    private void tcp(String text) {
        List<String[]> lines = text.lines()
                .filter(line -> line.startsWith("Tcp: "))
                .map(line -> line.split(" "))
                .toList();
        if (lines.size() == 2) {
            Map<String, String> counters = new LinkedHashMap<>();
            for (int i = 1; i < Math.min(lines.get(0).length, lines.get(1).length); i++) {
                counters.put(lines.get(0)[i], lines.get(1)[i]);
            }
            put("tcp_segments", counters.get("OutSegs"));
            put("tcp_retransmits", counters.get("RetransSegs"));
        }
    }

    private void put(String name, @Nullable String value) {
        Optional.ofNullable(value).map(KernelFile::number).orElseGet(OptionalLong::empty).ifPresent(
                found -> ofHost("", name, found, HostValue.COUNT));
    }

    private void sample(Watched process, CpuTimes cpus, boolean seldom) {
        int pid = process.pid();
        try {
            ProcessStat stat = process.stat();
            BitSet before = process.cpus();
            boolean isDue = seldom || before.isEmpty();
            if (isDue) {
                process.limit(allowed(process), cgroups.of(pid));
            } else if (process.nextRound() < YOUNG) {
                process.limit(allowed(process), process.limits());
            }
            if (isDue || !before.equals(process.cpus())) {
                limits(process, cpus);
            }
            ofProcess(pid, stat.comm(), "cpu", stat.cpuNanos(), HostValue.NANOS);
            ofProcess(pid, stat.comm(), "cpu_system", stat.systemNanos(), HostValue.NANOS);
            ofProcess(pid, stat.comm(), "minor_faults", stat.minorFaults(), HostValue.COUNT);
            ofProcess(pid, stat.comm(), "rss", stat.rssBytes(), HostValue.BYTES);
            ofProcess(pid, stat.comm(), "threads", stat.threads(), HostValue.COUNT);
            int mayUse = cpus.online(process.cpus());
            if (mayUse > 0 && mayUse < cpus.each().size()) {
                ofProcess(pid, stat.comm(), "cpu_idle", cpus.idleNanos(process.cpus()), HostValue.NANOS);
            }
        } catch (IOException _) {
            processes.forget(pid);
        }
    }

    private static BitSet allowed(Watched process) throws IOException {
        return Files.readString(process.folder().resolve("status"), StandardCharsets.ISO_8859_1)
                .lines()
                .filter(line -> line.startsWith("Cpus_allowed_list:"))
                .findFirst()
                .map(line -> CpuTimes.list(line.substring(line.indexOf(':') + 1)))
                .orElseGet(BitSet::new);
    }

    private void limits(Watched process, CpuTimes cpus) {
        int pid = process.pid();
        if (!process.cpus().isEmpty()) {
            ofProcess(pid, "", "cpus_allowed", cpus.online(process.cpus()), HostValue.COUNT);
        }
        process.limits().cpu().ifPresent(
                limit -> values.add(new HostValue(now, pid, "", limit.group(), "cpu_quota", limit.value(), "mCPU")));
        process.limits().memory().ifPresent(limit -> values.add(
                new HostValue(now, pid, "", limit.group(), "memory_limit", limit.value(), HostValue.BYTES)));
    }

    private void sampleCgroups() {
        Map<Path, Limit> cpu = new LinkedHashMap<>();
        Map<Path, Limit> memory = new LinkedHashMap<>();
        for (Watched process : processes.all()) {
            process.limits().cpu().ifPresent(limit -> cpu.put(limit.folder(), limit));
            process.limits().memory().ifPresent(limit -> memory.put(limit.folder(), limit));
        }
        CgroupValues of = new CgroupValues(files, this::ofHost);
        cpu.values().forEach(of::cpu);
        memory.values().forEach(of::memory);
    }

    private void ofHost(String object, String name, long value, String unit) {
        values.add(new HostValue(now, HOST, "", object, name, value, unit));
    }

    private void ofProcess(int pid, String comm, String name, long value, String unit) {
        values.add(new HostValue(now, pid, comm, "", name, value, unit));
    }

    @Override
    public void close() {
        processes.close();
        files.close();
    }
}
