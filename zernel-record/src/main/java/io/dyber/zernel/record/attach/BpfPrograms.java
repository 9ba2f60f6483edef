package io.dyber.zernel.record.attach;

import io.dyber.zernel.record.bpf.Backend;
import io.dyber.zernel.record.bpf.BpfException;
import io.dyber.zernel.record.bpf.BpfMap;
import io.dyber.zernel.record.bpf.BpfObject;
import io.dyber.zernel.record.bpf.HeldFile;
import io.dyber.zernel.record.bpf.PidSet;
import io.dyber.zernel.record.bpf.RingBuffer;
import io.dyber.zernel.record.bpf.UprobeProbes;
import io.dyber.zernel.record.builtin.Probe;
import io.dyber.zernel.record.builtin.Probes;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.option.RecorderException;
import io.dyber.zernel.record.probe.LibrarySelector;
import io.dyber.zernel.record.probe.OperatorProbe;
import io.dyber.zernel.record.schema.Btf;
import io.dyber.zernel.record.schema.Schema;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/// The loaded BPF objects of one recording and the maps they share. Closing unloads everything. Not thread-safe.
public final class BpfPrograms implements Targets, AutoCloseable {
    public static final Path KERNEL_TYPES = Path.of("/sys/kernel/btf/vmlinux");
    public static final String NEEDS_BTF =
            "use a kernel built with CONFIG_DEBUG_INFO_BTF; every current distribution's is";
    /// The kind of functions whose calls are not rows.
    static final String FACT = "";

    /// The number of a function that is probed for the recorder's own purposes; the others are numbered from 1.
    static final int OWN_FUNCTION = 0;

    private static final int MOST_FUNCTIONS = 4096;
    /// One copy of PyTorch has 3,000 operators.
    private static final int MOST_WITH_OPERATORS = 16384;
    private static final int LOADS_SIZE = 1 << 20;
    /// Processes that start or map code between two looks, which take as long as there is room for: 50 a second of 65,536 would
    /// be half a percent of a CPU.
    private static final int MOST_CHANGED = 1 << 14;
    /// Stacks that are taken at most on each CPU.
    public static final long STACKS_PER_SECOND = 1000;
    private static final int STACK_COUNTERS = 7;
    private static final long SETTLE_NANOS = 2_000_000;
    private static final byte[] PRESENT = {1};
    /// The maps that are one for the whole recording: of the objects that have one, the first loaded owns it.
    private static final List<String> SHARED = List.of(
            "vital", "bulk", "targets", "code_changed", "counters", "code", "loads", "stems", "loads_lost", "threads",
            "pythons", "known_stacks", "known_code", "python_threads", "stack_counts");

    private final Schema schema;
    private final RecordOptions options;
    private final RingSizes sizes;
    private final Map<Integer, Named> names = new LinkedHashMap<>();
    private final Map<Integer, long[]> counters = new HashMap<>();
    private final Map<String, Long> constants = new HashMap<>();
    private final Map<String, BpfObject> owners = new HashMap<>();
    private final List<HeldFile> held = new ArrayList<>();
    private final KernelProbes probes;
    private final BpfObject process;
    private final Optional<UprobeProbes> functions;
    private String functionsRefused = "";
    private final RingBuffer vital;
    private final RingBuffer bulk;
    private final RingBuffer loads;
    private final PidSet targets;

    /// What a function number stands for.
    ///
    /// @param sendsEnter whether a lost return still leaves a row
    public record Named(String kind, String name, boolean sendsEnter) {}

    /// Loads what the options ask for. Kinds that this kernel refuses are in [#unavailable]; without the process
    /// events there is nothing to record with, and the refusal is thrown.
    public BpfPrograms(RecordOptions options, Schema schema, RingSizes sizes) {
        this.options = options;
        this.sizes = sizes;
        this.schema = schema;
        constants(options);
        this.probes = loadProbes();
        this.process = probes.object(KernelProbes.FIRST);
        try {
            this.functions = loadFunctions();
            this.vital = RingBuffer.map(process.map("vital"), sizes.vital());
            this.bulk = RingBuffer.map(process.map("bulk"), sizes.bulk());
            this.loads = RingBuffer.map(process.map("loads"), LOADS_SIZE);
            this.targets = PidSet.map(process.map("targets"));
        } catch (RuntimeException e) {
            probes.close();
            throw e;
        }
    }

    /// What the options say to every object that has the constant.
    private void constants(RecordOptions options) {
        boolean programs = options.hooks().stream()
                .anyMatch(hook -> hook.probe().library().equals(LibrarySelector.PROGRAM));
        set("hold", options.holds() ? 1 : 0);
        set("hold_programs", programs ? 1 : 0);
        set("watch_everyone", options.everyone() ? 1 : 0);
        set("everyone", options.everyone() ? 1 : 0);
        set("wait_min_ns", options.waitMin().toNanos());
        set("stack_min_ns", options.stacks().blocked().toNanos());
        set("stacks_per_second", STACKS_PER_SECOND);
        set("sample_period_ns", options.stacks().periodNanos());
        set("record_spans", options.kinds().contains("sched") ? 1 : 0);
    }

    private int mostFunctions() {
        boolean operators = options.probes().stream().anyMatch(OperatorProbe.class::isInstance);
        return operators ? MOST_WITH_OPERATORS : MOST_FUNCTIONS;
    }

    /// Nothing loads on a kernel that does not describe its types, and libbpf's error for that misleads.
    private KernelProbes loadProbes() {
        try {
            return new KernelProbes(this, options, schema);
        } catch (BpfException e) {
            if (Files.isReadable(KERNEL_TYPES)) {
                throw e;
            }
            throw new RecorderException(
                    "reading the kernel's types '" + KERNEL_TYPES + "': the kernel has no BTF", NEEDS_BTF);
        }
    }

    /// Sets a constant of each object that is opened from now on and has it.
    void set(String constant, long value) {
        constants.put(constant, value);
    }

    /// A BPF object that knows the kinds and options of this recording, and shares its maps; not loaded yet.
    BpfObject open(String name) {
        BpfObject object = CompiledPrograms.open(name);
        for (int i = 0; i < schema.kinds().size(); i++) {
            object.constant("kind_" + schema.kinds().get(i).kind(), i + 1);
        }
        constants.forEach(object::constant);
        if (owners.isEmpty()) {
            return object.entries("vital", sizes.vital())
                    .entries("bulk", sizes.bulk())
                    .entries("counters", mostFunctions())
                    .entries("code_changed", MOST_CHANGED)
                    .entries("known_files", 1);
        }
        owners.forEach((map, owner) -> {
            if (object.hasMap(map)) {
                object.share(map, owner.map(map));
            }
        });
        return object;
    }

    /// Loads an object that was opened here.
    ///
    /// @throws BpfException when the kernel refuses it
    void load(BpfObject object) {
        object.load();
        SHARED.stream().filter(object::hasMap).forEach(map -> owners.putIfAbsent(map, object));
    }

    private Optional<UprobeProbes> loadFunctions() {
        List<Backend> candidates = options.backend().map(List::of).orElse(List.of(Backend.values()));
        try {
            return Optional.of(
                    Backend.choose(candidates, name -> open(name).entries("functions", mostFunctions())));
        } catch (BpfException e) {
            functionsRefused = e.getMessage();
            return Optional.empty();
        }
    }

    /// How many functions can still be probed.
    public int room() {
        return mostFunctions() - 1 - names.size();
    }

    /// A new function number, named.
    ///
    /// @throws RecorderException when the maps are full
    int newFunction(String kind, String name, boolean sendsEnter) {
        int id = names.size() + 1;
        if (room() == 0) {
            throw new RecorderException(
                    "probing '" + name + "': more than " + mostFunctions() + " functions",
                    "narrow the --probe patterns");
        }
        names.put(id, new Named(kind, name, sendsEnter));
        return id;
    }

    /// All functions so far, by number.
    public Map<Integer, Named> names() {
        return names;
    }

    /// Events that are no rows because they were short, of each kind that is seen in the kernel.
    public Map<String, Long> filtered() {
        Map<String, Long> sums = new HashMap<>();
        names.forEach((id, function) -> {
            if (probes.states().containsKey(function.kind())) {
                sums.merge(function.kind(), counters(id)[FunctionCounts.FILTERED], Long::sum);
            }
        });
        return sums;
    }

    /// The system calls that were watched, when [#readCounters] was called last.
    public Overhead.SystemCallHits systemCalls() {
        Set<String> kinds = Probes.all().stream()
                .filter(probe -> !probe.systemCalls().isEmpty())
                .map(Probe::kind)
                .collect(Collectors.toSet());
        long hits = 0;
        long skipped = 0;
        for (Map.Entry<Integer, Named> function : names.entrySet()) {
            if (kinds.contains(function.getValue().kind())) {
                long[] counts = counters(function.getKey());
                hits += counts[FunctionCounts.HITS];
                skipped += counts[FunctionCounts.FILTERED];
            }
        }
        return new Overhead.SystemCallHits(hits, skipped);
    }

    /// Kinds that this machine cannot record, with the reason.
    public Map<String, String> unavailable() {
        Map<String, String> unavailable = new LinkedHashMap<>();
        probes.states().forEach((kind, state) -> {
            if (state.isUnavailable()) {
                unavailable.put(kind, state.why());
            }
        });
        if (functions.isEmpty()) {
            Probes.all().stream()
                    .filter(Probe::isOfFunctions)
                    .forEach(probe -> unavailable.put(probe.kind(), functionsRefused));
        }
        return unavailable;
    }

    /// What became of a kind that is seen in the kernel.
    public KindState state(String kind) {
        KindState state = probes.states().get(kind);
        if (state == null) {
            throw new IllegalStateException("no BPF object was to be loaded for kind '" + kind + "'");
        }
        return state;
    }

    /// Parts of a kind that this machine cannot record, with the reason.
    public List<String> missing() {
        return probes.missing();
    }

    public Optional<UprobeProbes> functions() {
        return functions;
    }

    Optional<Btf> functionsBtf() {
        return functions.map(attached -> attached.object().btf());
    }

    public RingBuffer vital() {
        return vital;
    }

    public RingBuffer bulk() {
        return bulk;
    }

    /// Where [io.dyber.zernel.record.event.Load] records arrive.
    public RingBuffer loads() {
        return loads;
    }

    @Override
    public boolean hearsOfLoads() {
        return probes.watchesLoads();
    }

    /// How many loads found that ring full.
    public long loadsLost() {
        return process.map("loads_lost").sumPerCpu(0, 1).orElse(new long[1])[0];
    }

    /// Says what became of a file that processes map or will map as code.
    ///
    /// @param identity as `/proc/PID/maps` has it: `MAJOR:MINOR:INODE`
    public void decide(String identity, CodeState state) {
        process.map("code").put(CodeState.key(identity), new byte[] {(byte) state.number()});
    }

    /// Has processes held that map a library whose name begins so.
    public void holdAt(List<String> stems) {
        for (int i = 0; i < Math.min(stems.size(), CodeState.MOST_STEMS); i++) {
            process.map("stems").put(i, CodeState.stem(stems.get(i)));
        }
    }

    /// Starts the kernel-side kinds.
    public void attach() {
        probes.attach();
    }

    @Override
    public void addTarget(int pid) {
        targets.add(pid);
        process.map("code_changed").put(pid, PRESENT);
    }

    @Override
    public void removeTarget(int pid) {
        targets.remove(pid);
    }

    /// Does something while this process is recorded, and drops what was. Only while nobody reads the rings.
    <T> T recordingItself(Supplier<T> action) {
        int self = (int) ProcessHandle.current().pid();
        targets.add(self);
        try {
            return action.get();
        } finally {
            targets.remove(self);
            vital.discard();
            bulk.discard();
        }
    }

    /// Whether the programs are loaded that watch system calls.
    boolean watchesSystemCalls() {
        return probes.watchesSystemCalls();
    }

    /// Does something while the system calls of this process are watched, and only those that [#defineSystemCall] has named, and
    /// drops what was recorded. Before [#attach].
    void watchingOwnSystemCalls(Runnable action) {
        BpfObject object = probes.object(KernelProbes.SYSTEM_CALLS);
        try {
            object.attachAll();
            recordingItself(() -> {
                action.run();
                return true;
            });
        } finally {
            object.detach();
        }
    }

    /// @param call a `struct system_call`
    void defineSystemCall(int number, byte[] call) {
        probes.object(KernelProbes.SYSTEM_CALLS).map("system_calls").put(number, call);
    }

    @Override
    public Set<Integer> targets() {
        return targets.pids();
    }

    @Override
    public Set<Integer> takeCodeChanges() {
        Set<Integer> changed = process.map("code_changed").keys();
        changed.forEach(pid -> process.map("code_changed").remove(pid));
        return changed;
    }

    /// Tells the programs where in a process the frames of its Python are.
    ///
    /// @param python a `struct python`
    public void definePython(int pid, byte[] python) {
        process.map("pythons").put(pid, python);
    }

    /// What became of the stacks so far, in the order of `struct stack_counts`; zeros where none is taken.
    public long[] stackCounts() {
        return Optional.ofNullable(owners.get("stack_counts"))
                .flatMap(object -> object.map("stack_counts").sumPerCpu(0, STACK_COUNTERS))
                .orElseGet(() -> new long[STACK_COUNTERS]);
    }

    void defineFunction(int id, FunctionDefinition definition) {
        BpfMap map = functions.orElseThrow().object().map("functions");
        map.put(id, definition.bytes());
    }

    /// Reads the counters of all functions, for everybody who asks until the next call of this.
    public void readCounters() {
        names.keySet().forEach(id -> counters.put(id, countersNow(id)));
    }

    /// The kernel's counters of a function when [#readCounters] was called last.
    public long[] counters(int id) {
        return counters.computeIfAbsent(id, this::countersNow);
    }

    /// The kernel's counters of a function.
    long[] countersNow(int id) {
        return process.map("counters")
                .sumPerCpu(id, FunctionCounts.COUNTERS)
                .orElseGet(() -> new long[FunctionCounts.COUNTERS]);
    }

    /// Keeps a file at hand until [#close].
    ///
    /// @return where it is found; the same where it cannot be kept
    Path hold(Path file) {
        try {
            HeldFile one = HeldFile.open(file);
            held.add(one);
            return one.path();
        } catch (BpfException _) {
            return file;
        }
    }

    /// Ends all probing; rings and counters stay readable.
    public void detach() {
        CompletableFuture<Void> gone =
                functions.map(UprobeProbes::detach).orElseGet(() -> CompletableFuture.completedFuture(null));
        probes.detach();
        gone.join();
        // What runs at this moment ends and counts what it has sent.
        LockSupport.parkNanos(SETTLE_NANOS);
    }

    @Override
    public void close() {
        detach();
        held.forEach(HeldFile::close);
        vital.close();
        bulk.close();
        loads.close();
        targets.close();
        functions.ifPresent(UprobeProbes::close);
        probes.close();
    }
}
