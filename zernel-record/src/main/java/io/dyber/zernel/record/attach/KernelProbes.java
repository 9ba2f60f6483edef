package io.dyber.zernel.record.attach;

import io.dyber.zernel.record.bpf.BpfException;
import io.dyber.zernel.record.bpf.BpfObject;
import io.dyber.zernel.record.builtin.KernelPart;
import io.dyber.zernel.record.builtin.Origin;
import io.dyber.zernel.record.builtin.Probe;
import io.dyber.zernel.record.builtin.Probes;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.schema.Schema;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/// The BPF objects that watch the kernel: those that [Probes] names for the wanted kinds. A kernel may refuse some of them;
/// the others then do without. Not thread-safe.
final class KernelProbes implements AutoCloseable {
    /// Nothing is recorded without it, so it is always loaded, and first: it owns the maps of the others.
    static final String FIRST = "process";

    static final String SYSTEM_CALLS = "syscalls";
    /// Sees what processes load, where no other object watches their system calls.
    private static final String LOADS = "loads";
    private static final String NAME = "name_";
    private static final String SAMPLES = "sample";

    /// What an object does for a kind.
    private record Use(String kind, KernelPart part) {
        List<String> constants() {
            return part.events().stream()
                    .filter(KernelPart.Named.class::isInstance)
                    .map(event -> ((KernelPart.Named) event).constant())
                    .toList();
        }
    }

    private final BpfPrograms kernel;
    private final Schema schema;
    private final long samplePeriod;
    private final Map<String, BpfObject> objects = new LinkedHashMap<>();
    private final Map<String, KindState> states = new LinkedHashMap<>();
    private final List<String> missing = new ArrayList<>();
    /// What the maps of objects are told when these are attached: until then they may be used for a measurement.
    private final List<Runnable> entries = new ArrayList<>();

    /// Loads what the kinds need.
    KernelProbes(BpfPrograms kernel, RecordOptions options, Schema schema) {
        this.kernel = kernel;
        this.samplePeriod = options.stacks().periodNanos();
        this.schema = schema;
        try {
            uses().forEach((object, uses) -> load(object, uses, options.kernelKinds()));
            if (!objects.containsKey(SYSTEM_CALLS)) {
                loadLoads();
            }
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /// What each object does for which kinds, in the order in which they are loaded.
    private static Map<String, List<Use>> uses() {
        Map<String, List<Use>> uses = new LinkedHashMap<>();
        uses.put(FIRST, new ArrayList<>());
        for (Probe probe : Probes.all()) {
            if (probe.origin() instanceof Origin.Kernel(List<KernelPart> parts)) {
                for (KernelPart part : parts) {
                    uses.computeIfAbsent(part.object(), _ -> new ArrayList<>()).add(new Use(probe.kind(), part));
                }
            }
        }
        return uses;
    }

    private void load(String name, List<Use> uses, Set<String> kinds) {
        List<Use> wanted = name.equals(FIRST)
                ? uses
                : uses.stream().filter(use -> kinds.contains(use.kind())).toList();
        uses.stream()
                .filter(use -> use.part().isWhole() && !wanted.contains(use))
                .forEach(use -> states.put(use.kind(), KindState.LEFT_OUT));
        if (!wanted.isEmpty()) {
            load(name, kernel.open(name), uses, wanted);
        }
    }

    private void load(String name, BpfObject object, List<Use> uses, List<Use> wanted) {
        try {
            check(name, object, uses);
            wanted.forEach(use -> nameBefore(object, use));
            kernel.load(object);
        } catch (BpfException e) {
            object.close();
            if (name.equals(FIRST)) {
                throw e;
            }
            wanted.forEach(use -> refuse(use, e.getMessage()));
            return;
        }
        objects.put(name, object);
        for (Use use : wanted) {
            nameAfter(object, use);
            if (use.part().isWhole()) {
                states.put(use.kind(), KindState.waiting("its programs are loaded and not attached yet"));
            }
            if (!use.part().seen().isEmpty()) {
                kernel.set(use.part().seen(), 1);
            }
        }
    }

    /// A name that one side knows and the other does not would leave events without a name.
    private static void check(String name, BpfObject object, List<Use> uses) {
        Set<String> here = object.constants().stream()
                .filter(constant -> constant.startsWith(NAME))
                .collect(Collectors.toSet());
        Set<String> told = uses.stream().flatMap(use -> use.constants().stream()).collect(Collectors.toSet());
        if (!here.equals(told)) {
            object.close();
            throw new IllegalStateException("BPF object '" + name + "' has the names of events " + here
                    + ", and its probe the names " + told);
        }
    }

    private void nameBefore(BpfObject object, Use use) {
        for (KernelPart.EventName event : use.part().events()) {
            if (event instanceof KernelPart.Named named) {
                object.constant(named.constant(), kernel.newFunction(use.kind(), named.name(), true));
            }
        }
    }

    private void nameAfter(BpfObject object, Use use) {
        int kind = Decoder.numberOf(schema, use.kind());
        for (KernelPart.EventName event : use.part().events()) {
            if (event instanceof KernelPart.Entry entry) {
                int function = kernel.newFunction(use.kind(), entry.name(), true);
                byte[] value = entry.value(kind, function);
                entries.add(() -> object.map(entry.map()).put(entry.key(), value));
            }
        }
    }

    private void refuse(Use use, String why) {
        if (use.part().isWhole()) {
            states.put(use.kind(), KindState.unavailable(why));
        } else {
            missing.add(use.part().part() + " of kind '" + use.kind() + "' are not there: " + why);
        }
    }

    private void loadLoads() {
        BpfObject object = kernel.open(LOADS);
        try {
            kernel.load(object);
            objects.put(LOADS, object);
        } catch (BpfException _) {
            object.close();
            missing.add("libraries that are loaded late are found late: the kernel does not let system calls be watched");
        }
    }

    /// Whether processes that load code are heard of.
    boolean watchesLoads() {
        return objects.containsKey(SYSTEM_CALLS) || objects.containsKey(LOADS);
    }

    boolean watchesSystemCalls() {
        return objects.containsKey(SYSTEM_CALLS);
    }

    /// A loaded object.
    BpfObject object(String name) {
        BpfObject object = objects.get(name);
        if (object == null) {
            throw new IllegalStateException("BPF object '" + name + "' is not loaded");
        }
        return object;
    }

    /// What became of each kind that is seen in the kernel.
    Map<String, KindState> states() {
        return states;
    }

    /// What the kernel refused without refusing a kind, with the reasons.
    List<String> missing() {
        return missing;
    }

    void attach() {
        entries.forEach(Runnable::run);
        entries.clear();
        objects.forEach((name, object) -> {
            if (name.equals(SAMPLES)) {
                attachToClocks(object);
            } else {
                object.attachAll();
            }
        });
        states.replaceAll((_, state) ->
                state.state() == KindState.State.WAITING ? KindState.attached("") : state);
    }

    /// A machine may forbid clocks of all CPUs, as containers do: then there are no samples, and all else is as it was.
    private void attachToClocks(BpfObject object) {
        try {
            object.attachToClocks(samplePeriod);
        } catch (BpfException e) {
            states.put(RecordOptions.SAMPLE, KindState.unavailable(e.getMessage()));
        }
    }

    /// The first ends last.
    void detach() {
        List.copyOf(objects.values()).reversed().forEach(BpfObject::detach);
    }

    @Override
    public void close() {
        List.copyOf(objects.values()).reversed().forEach(BpfObject::close);
    }
}
