package io.dyber.zernel.record.attach;

import io.dyber.zernel.record.bpf.Clock;
import io.dyber.zernel.record.bpf.ProbeLinks;
import io.dyber.zernel.record.job.GpuKernels;
import io.dyber.zernel.record.option.Detail;
import io.dyber.zernel.record.process.MappedFile;
import io.dyber.zernel.record.process.MappedFiles;
import io.dyber.zernel.record.rows.EventPump;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/// The calls of the CUDA runtime, which are probed only while something is recorded that the driver's probes do not see.
///
/// Each makes a call of the driver inside it, so where that is probed the runtime's would cost the job as much again for
/// nothing. While both are, as in a change-over, [io.dyber.zernel.record.event.Layer] tells which calls are one row; a probe
/// of the runtime ends when each call that began before the driver was probed has ended too. What a call of the driver does
/// not tell is which host function a kernel was launched by. So the runtime's launches are probed for a while when a
/// kernel turns up whose name is found in no other way.
final class RuntimeLayer {
    static final String RESTING = "the driver's calls are recorded instead";
    private static final long NAMING_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final long OVERLAP_NANOS = TimeUnit.SECONDS.toNanos(1);

    /// Attaches functions and says how many; the kernel may refuse some.
    interface Attaching {
        int attach(MappedFile file, List<Attachments.Placed> functions, List<ProbeLinks> links);

        /// Tells people what was attached.
        void announce(MappedFile file, int attached);
    }

    /// Functions of a file that are attached together.
    private static final class Group {
        final MappedFile file;
        final Set<String> kinds = new HashSet<>();
        final List<Attachments.Placed> functions;
        final Set<Integer> numbers = new HashSet<>();
        final List<ProbeLinks> links = new ArrayList<>();
        boolean attached;
        /// When it was first not needed any more, on CLOCK_MONOTONIC; 0 while it is.
        long idleSince;
        Optional<CompletableFuture<Boolean>> open = Optional.empty();

        Group(MappedFile file, List<Attachments.Placed> functions) {
            this.file = file;
            this.functions = functions;
            functions.forEach(one -> {
                kinds.add(one.hook().probe().kind());
                numbers.add(one.site().function());
            });
        }

        boolean isOfLaunches() {
            return Detail.concern(functions.getFirst().hook());
        }

        /// Takes its probes away; what is recorded of them is as before.
        void detach() {
            links.forEach(ProbeLinks::detach);
            links.clear();
            attached = false;
            open = Optional.empty();
        }

        /// Whether its calls tell what those of the driver inside them do not.
        boolean names() {
            return isOfLaunches() && !Detail.isWrapper(functions.getFirst().hook());
        }
    }

    /// What of CUDA a process has mapped.
    private record Use(Map<String, MappedFile> runtimes, Set<String> kindsOfDriver, boolean ownRoot) {}

    private final EventPump pump;
    private final DetailProbes detail;
    private final ProbedFunctions probed;
    private final GpuKernels kernels;
    private final Attaching attaching;
    private final MappedFiles mapped = new MappedFiles();
    private final Map<String, List<Group>> groups = new LinkedHashMap<>();
    private final Map<String, Set<String>> kindsOfDrivers = new HashMap<>();
    private final Set<String> kindsOfOwnDrivers = new HashSet<>();
    private final Map<Integer, Use> uses = new HashMap<>();
    private boolean ended;

    RuntimeLayer(
            EventPump pump, DetailProbes detail, ProbedFunctions probed, GpuKernels kernels, Attaching attaching) {
        this.pump = pump;
        this.detail = detail;
        this.probed = probed;
        this.kernels = kernels;
        this.attaching = attaching;
    }

    /// Takes in functions of a runtime.
    void add(MappedFile file, List<Attachments.Placed> functions) {
        Map<String, List<Attachments.Placed>> byGroup = new LinkedHashMap<>();
        for (Attachments.Placed one : functions) {
            probed.add(one.row().resting(RESTING));
            String group = !Detail.concern(one.hook()) ? "calls"
                    : Detail.isWrapper(one.hook()) ? "wrappers of launches" : "launches";
            byGroup.computeIfAbsent(group, _ -> new ArrayList<>()).add(one);
        }
        groups.put(
                file.identity(),
                byGroup.values().stream().map(those -> new Group(file, those)).toList());
    }

    /// Takes in a driver of which all calls of these kinds are probed.
    void addDriver(MappedFile file, Set<String> kinds) {
        kindsOfDrivers.put(file.identity(), Set.copyOf(kinds));
        if (isInOwnRoot(file)) {
            kindsOfOwnDrivers.addAll(kinds);
        }
    }

    private static boolean isInOwnRoot(MappedFile file) {
        return !file.opened().startsWith("/proc");
    }

    /// Takes in all that a process has mapped.
    void see(int pid, List<MappedFile> files) {
        Map<String, MappedFile> runtimes = new HashMap<>();
        Set<String> driver = new HashSet<>();
        boolean ownRoot = true;
        for (MappedFile file : files) {
            if (groups.containsKey(file.identity())) {
                runtimes.put(file.identity(), file);
                ownRoot &= isInOwnRoot(file);
            }
            driver.addAll(kindsOfDrivers.getOrDefault(file.identity(), Set.of()));
        }
        uses.put(pid, new Use(runtimes, driver, ownRoot));
    }

    /// Attaches what is needed and takes away what is not.
    ///
    /// @param recorded the processes that are
    void settle(Supplier<Set<Integer>> recorded) {
        if (!groups.isEmpty() && !ended) {
            settle(recorded.get());
        }
    }

    private void settle(Set<Integer> recorded) {
        uses.keySet().retainAll(recorded);
        for (int pid : recorded) {
            if (!uses.containsKey(pid)) {
                see(pid, mapped.of(pid));
            }
        }
        for (List<Group> those : groups.values()) {
            int attached = those.stream().mapToInt(this::settle).sum();
            if (attached > 0) {
                attaching.announce(those.getFirst().file, attached);
            }
        }
    }

    /// Takes all away, outer functions before those inside them, so that the last calls are one row each too.
    void detach() {
        ended = true;
        groups.values().forEach(those ->
                those.reversed().forEach(group -> group.links.forEach(ProbeLinks::detach)));
    }

    private int settle(Group group) {
        if (group.isOfLaunches() && !detail.isOpen()) {
            group.attached &= !group.links.isEmpty();
            return 0;
        }
        boolean needed = group.kinds.stream().anyMatch(kind -> isNeeded(group, kind));
        if (group.isOfLaunches() && !detail.detail().isEach()) {
            // Of samples and counts nobody can tell which calls are the same: one layer must do.
            needed &= group.kinds.stream().noneMatch(probed::hasDriver);
        }
        if (needed || (group.names() && isNaming(group))) {
            group.idleSince = 0;
            group.open = Optional.empty();
            return attach(group);
        }
        if (group.attached) {
            detach(group);
        }
        return 0;
    }

    private boolean isNeeded(Group group, String kind) {
        boolean ahead = !kindsOfOwnDrivers.contains(kind);
        boolean used = false;
        for (Use use : uses.values()) {
            if (use.runtimes().containsKey(group.file.identity())) {
                used = true;
                if (!use.kindsOfDriver().contains(kind) && (ahead || !use.ownRoot())) {
                    return true;
                }
            }
        }
        return !used && ahead;
    }

    /// Whether a kernel whose name is found in no other way has turned up lately, and launches tell which call was made inside which.
    private boolean isNaming(Group group) {
        return detail.detail().isEach()
                && kernels.seeks(NAMING_NANOS)
                && uses.values().stream().anyMatch(use -> use.runtimes().containsKey(group.file.identity()));
    }

    private int attach(Group group) {
        if (group.attached) {
            return 0;
        }
        group.attached = true;
        List<Attachments.Placed> wanted = group.functions.stream()
                .filter(one -> detail.detail().attach(one.hook()))
                .toList();
        int attached = wanted.isEmpty() ? 0 : attaching.attach(openable(group), wanted, group.links);
        if (group.isOfLaunches()) {
            detail.takeAlong(group.links);
        }
        return attached;
    }

    /// The file as it can be opened now: perhaps only through a process.
    private MappedFile openable(Group group) {
        if (!group.file.isGone()) {
            return group.file;
        }
        return uses.values().stream()
                .flatMap(use -> Optional.ofNullable(use.runtimes().get(group.file.identity())).stream())
                .filter(file -> !file.isGone())
                .findFirst()
                .orElse(group.file);
    }

    private void detach(Group group) {
        if (group.isOfLaunches() && !detail.detail().isEach()) {
            rest(group);
            return;
        }
        long now = Clock.monotonicNanos();
        if (group.idleSince == 0) {
            group.idleSince = now;
        }
        if (now - group.idleSince < OVERLAP_NANOS) {
            return;
        }
        if (group.open.isEmpty()) {
            CompletableFuture<Boolean> open = new CompletableFuture<>();
            group.open = Optional.of(open);
            long since = group.idleSince;
            pump.onceDecoded(decoder -> open.complete(decoder.isOpen(group.numbers, since)));
        } else if (group.open.get().getNow(true)) {
            group.open = group.open.filter(answer -> !answer.isDone());
        } else {
            rest(group);
        }
    }

    /// The calls that are still open when all that was sent is decoded are those whose ends nobody will see.
    private void rest(Group group) {
        group.detach();
        group.functions.forEach(one -> {
            if (probed.isAttached(one.site().function())) {
                probed.add(one.row().resting(RESTING));
            }
        });
        pump.onceDecoded(decoder -> decoder.coverOpen(group.numbers));
    }
}
