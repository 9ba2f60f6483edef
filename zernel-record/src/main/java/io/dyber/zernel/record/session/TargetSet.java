package io.dyber.zernel.record.session;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.attach.Targets;
import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.job.Job;
import io.dyber.zernel.record.option.CommandLines;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.process.MappedInode;
import io.dyber.zernel.record.process.ProcessFacts;
import io.dyber.zernel.record.rows.EventPump;
import io.dyber.zernel.record.rows.EventWriter;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// The processes being recorded: the chosen ones and their children, or every process that loads a probed library.
final class TargetSet {
    private static final long SWEEP_NANOS = 1_000_000_000L;

    /// A job that starts a process a second has 86,400 a day: of more than so many, those that have ended are forgotten,
    /// the oldest first.
    private static final int MOST = 10_000;

    private final Targets kernel;
    private final RecordOptions options;
    private final EventPump pump;
    private final EventWriter writer;
    private final Job job;
    private final Map<Integer, ProcessFacts> known = new LinkedHashMap<>();
    private volatile Set<Integer> recorded = Set.of();
    private long forgotten;
    private long swept = System.nanoTime() - SWEEP_NANOS;

    TargetSet(Targets kernel, RecordOptions options, EventPump pump, EventWriter writer, Job job) {
        this.kernel = kernel;
        this.options = options;
        this.pump = pump;
        this.writer = writer;
        this.job = job;
    }

    /// Takes in the chosen processes and what they have already forked. What is known of them is read, which takes a while,
    /// only when no other is left: one that is not yet a target may fork meanwhile, the children of one that is are targets.
    void begin() {
        Set<Integer> found = new LinkedHashSet<>();
        Set<Integer> more = others(options.pids());
        while (!more.isEmpty()) {
            more.forEach(this::take);
            found.addAll(more);
            more = others(descendants());
            more.removeAll(found);
            more.removeAll(kernel.targets());
        }
        found.forEach(this::learn);
    }

    /// Those of the chosen processes.
    private Set<Integer> descendants() {
        Set<Integer> descendants = new LinkedHashSet<>();
        options.pids().forEach(pid -> descendants.addAll(ProcessFacts.descendantsOf(pid)));
        return descendants;
    }

    /// The recorder itself is never recorded: each event would bring on more.
    private static Set<Integer> others(Set<Integer> pids) {
        Set<Integer> others = new LinkedHashSet<>(pids);
        others.remove((int) ProcessHandle.current().pid());
        return others;
    }

    private void take(int pid) {
        pump.later(_ -> job.adopted(pid));
        kernel.addTarget(pid);
    }

    /// Of a process that ended before it was taken in nobody tells the end: it is taken out again, or whoever gets its number
    /// next would be recorded.
    private void learn(int pid) {
        Optional<ProcessFacts> facts = ProcessFacts.of(pid);
        if (facts.isEmpty()) {
            kernel.removeTarget(pid);
            return;
        }
        learnMapped(pid);
        known.put(pid, facts.get());
        writeRunning(pid, facts.get());
    }

    private void learnMapped(int pid) {
        List<MappedInode> mapped = MappedInode.allOf(pid);
        pump.later(decoder ->
                mapped.forEach(file -> decoder.learnMapped(file.device(), file.inode(), file.path())));
    }

    /// Without chosen processes, those that use a probed library are recorded.
    void addUsers(Set<Integer> pids) {
        if (options.everyone() && !pids.isEmpty()) {
            // What is known of a process may be of an earlier one with its number.
            Set<Integer> users = others(pids);
            users.removeAll(kernel.targets());
            for (int pid : users) {
                take(pid);
                learn(pid);
            }
        }
    }

    /// The workload, whose life the kernel-side events tell from its first instruction.
    void follow(int pid) {
        kernel.addTarget(pid);
    }

    private void writeRunning(int pid, ProcessFacts facts) {
        writer.event("process", "running", writer.epochNanos(Clock.monotonicNanos()))
                .with("pid", pid)
                .with("tid", pid)
                .with("comm", facts.comm())
                .with("path", facts.exe())
                .write();
    }

    /// The processes that may have loaded a library since the last call.
    Set<Integer> scan() {
        recorded = Set.copyOf(kernel.targets());
        boolean sweep = System.nanoTime() - swept >= SWEEP_NANOS;
        Set<Integer> changed = kernel.takeCodeChanges();
        if (sweep) {
            swept = System.nanoTime();
        }
        if (sweep && (options.everyone() || !kernel.hearsOfLoads())) {
            changed = options.everyone() ? ProcessFacts.everyPid() : recorded;
        }
        for (int pid : recorded) {
            ProcessFacts before = known.get(pid);
            if (before == null || changed.contains(pid) || (sweep && isYoung(before))) {
                ProcessFacts.of(pid).ifPresent(facts -> known.put(pid, facts));
            }
        }
        if (known.size() > MOST) {
            forget();
        }
        return changed;
    }

    private void forget() {
        List<Integer> ended = known.keySet().stream()
                .filter(pid -> !recorded.contains(pid))
                .limit(MOST / 10)
                .toList();
        known.keySet().removeAll(ended);
        forgotten += ended.size();
    }

    /// The recorded processes that ran at the last scan. May be called by any thread.
    Set<Integer> recorded() {
        return recorded;
    }

    /// What is missing of the processes.
    List<String> caveats() {
        return forgotten == 0 ? List.of() : List.of(forgotten + " processes that ended are not described");
    }

    /// Whether any recorded process still runs.
    boolean anyAlive() {
        return kernel.targets().stream().anyMatch(ProcessFacts::isAlive);
    }

    /// The footer's `zernel.processes`.
    List<Footer.ProcessInfo> describe() {
        return known.values().stream()
                .map(this::describe)
                .toList();
    }

    /// Names and command lines settle in the first moments of a process.
    private static boolean isYoung(ProcessFacts facts) {
        return facts.started().isAfter(Instant.now().minusSeconds(2));
    }

    private Footer.ProcessInfo describe(ProcessFacts facts) {
        CommandLines lines = options.commandLines();
        List<String> words = Workload.withoutGate(facts.commandLine());
        return new Footer.ProcessInfo(
                facts.pid(),
                facts.parent(),
                facts.comm(),
                facts.exe(),
                lines.shown(words),
                lines.hidden(words),
                lines.mark(),
                facts.environment(),
                facts.cgroup().isEmpty() ? null : facts.cgroup(),
                facts.nice() == 0 ? null : facts.nice(),
                facts.started().toEpochMilli() * 1_000_000L,
                null,
                null);
    }
}
