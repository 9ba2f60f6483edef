package io.dyber.zernel.record.bpf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.dyber.zernel.record.schema.Btf;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/// One BPF object: opened, configured, loaded, attached. Closing detaches and unloads everything.
///
/// Not thread-safe.
public final class BpfObject implements AutoCloseable {
    private final String name;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment object;
    private final Btf btf;
    private final List<MemorySegment> links = new ArrayList<>();
    private final Map<String, BpfMap> maps = new ConcurrentHashMap<>();

    private BpfObject(String name, byte[] bytes) {
        this.name = name;
        this.object = LibBpf.openObject(arena.allocateFrom(JAVA_BYTE, bytes), name);
        this.btf = Btf.parse(LibBpf.btf(object));
    }

    /// Opens an object without asking the kernel for anything.
    ///
    /// @param name for messages
    /// @throws BpfException also when this machine has no libbpf
    public static BpfObject open(String name, byte[] bytes) {
        try {
            return new BpfObject(name, bytes);
        } catch (ExceptionInInitializerError e) {
            if (e.getCause() instanceof BpfException noLibrary) {
                throw noLibrary;
            }
            throw e;
        }
    }

    public Btf btf() {
        return btf;
    }

    /// Whether it has a map of this name, own or shared.
    public boolean hasMap(String map) {
        return variables(".maps").contains(map);
    }

    /// The `const volatile` variables of its programs.
    public Set<String> constants() {
        return variables(".rodata");
    }

    private Set<String> variables(String section) {
        Set<String> names = new LinkedHashSet<>();
        for (Btf.SectionVar var : btf.sectionVars(section)) {
            if (btf.type(var.var()) instanceof Btf.Var(String name, int _)) {
                names.add(name);
            }
        }
        return names;
    }

    /// Sets a `const volatile` integer of the programs. A constant the object does not have is skipped: not every
    /// object knows every kind. Only before [#load].
    public BpfObject constant(String variable, long value) {
        for (Btf.SectionVar var : btf.sectionVars(".rodata")) {
            if (btf.type(var.var()) instanceof Btf.Var(String found, int _) && found.equals(variable)) {
                MemorySegment data = LibBpf.initialValue(LibBpf.map(object, ".rodata"));
                switch (var.size()) {
                    case 1 -> data.set(JAVA_BYTE, var.offset(), (byte) value);
                    case 2 -> data.set(JAVA_SHORT_UNALIGNED, var.offset(), (short) value);
                    case 4 -> data.set(JAVA_INT_UNALIGNED, var.offset(), (int) value);
                    default -> data.set(JAVA_LONG_UNALIGNED, var.offset(), value);
                }
            }
        }
        return this;
    }

    /// Sizes a map. Only before [#load].
    public BpfObject entries(String map, int entries) {
        LibBpf.setMaxEntries(LibBpf.map(object, map), entries);
        return this;
    }

    /// Uses a map of another, loaded object instead of an own one. Only before [#load].
    public BpfObject share(String map, BpfMap other) {
        LibBpf.reuseFd(LibBpf.map(object, map), other.fd());
        return this;
    }

    /// Says how the uprobe programs will be attached. Only before [#load].
    BpfObject expectedAttachType(int type) {
        for (MemorySegment program : programs()) {
            LibBpf.setExpectedAttachType(program, type);
        }
        return this;
    }

    /// The same for one program.
    BpfObject expectedAttachType(String program, int type) {
        LibBpf.setExpectedAttachType(program(program), type);
        return this;
    }

    public BpfObject load() {
        LibBpf.load(object, name);
        return this;
    }

    /// One of its maps. Only after [#load].
    public BpfMap map(String map) {
        return maps.computeIfAbsent(map, name -> new BpfMap(LibBpf.mapFd(LibBpf.map(object, name))));
    }

    int programFd(String program) {
        return LibBpf.programFd(LibBpf.program(object, program));
    }

    MemorySegment program(String program) {
        return LibBpf.program(object, program);
    }

    /// Attaches every program where its section name says.
    public BpfObject attachAll() {
        for (MemorySegment program : programs()) {
            links.add(LibBpf.attach(program));
        }
        return this;
    }

    /// Attaches every program to a clock of each CPU that calls it all so many nanoseconds while the CPU is not idle.
    ///
    /// @throws BpfException when that is not allowed
    public BpfObject attachToClocks(long periodNanos) {
        for (MemorySegment program : programs()) {
            for (int cpu : Cpus.online()) {
                links.add(LibBpf.attachPerfEvent(program, PerfClock.open(cpu, periodNanos)));
            }
        }
        return this;
    }

    private List<MemorySegment> programs() {
        List<MemorySegment> programs = new ArrayList<>();
        MemorySegment program = LibBpf.nextProgram(object, MemorySegment.NULL);
        while (program.address() != 0) {
            programs.add(program);
            program = LibBpf.nextProgram(object, program);
        }
        return programs;
    }

    /// Detaches what [#attachAll] attached; the maps stay readable until [#close].
    public void detach() {
        links.forEach(LibBpf::destroy);
        links.clear();
    }

    @Override
    public void close() {
        detach();
        LibBpf.closeObject(object);
        arena.close();
    }
}
