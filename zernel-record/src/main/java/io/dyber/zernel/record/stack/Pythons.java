package io.dyber.zernel.record.stack;

import io.dyber.zernel.format.Footer;
import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.process.AddressSpace;
import io.dyber.zernel.record.process.AddressSpace.Region;
import io.dyber.zernel.record.process.MappedFiles;
import io.dyber.zernel.record.process.ProcessFacts;
import io.dyber.zernel.record.process.ProcessMemory;
import io.dyber.zernel.record.python.Interpreter;
import io.dyber.zernel.record.python.InterpreterLayout;
import io.dyber.zernel.record.python.LayoutCheck;
import io.dyber.zernel.record.schema.Btf;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

/// Which of the recorded processes run a Python, and where its frames are. One thread looks; any may ask.
public final class Pythons {
    /// When a process is looked at again that has mapped no interpreter: a program may load one late.
    private static final List<Long> PAUSES =
            List.of(20L, 50L, 200L, 1000L, 5000L).stream().map(TimeUnit.MILLISECONDS::toNanos).toList();
    /// Of one interpreter. Each program that is started has its own, forked processes have that of their parent. Where there
    /// are more, or one was not found, none is told: what rests on them would take the others for complete.
    private static final int MOST_RUNTIMES = 256;
    /// How long an interpreter may take to set itself up.
    private static final long SET_UP_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final MappedFiles mapped = new MappedFiles();
    private final Map<String, Interpreter> interpreters = new ConcurrentHashMap<>();
    private final Map<String, Footer.PythonInfo> described = new TreeMap<>();
    private final Map<String, Set<Footer.PythonRuntime>> runtimes = new HashMap<>();
    private final Map<Integer, Running> running = new ConcurrentHashMap<>();
    private final Map<Long, Running> byRuntime = new ConcurrentHashMap<>();
    private final Map<Integer, Retry> retries = new LinkedHashMap<>();
    private final Map<Integer, Starting> starting = new LinkedHashMap<>();
    private final PythonStruct struct;
    private final BiConsumer<Integer, byte[]> tell;

    /// The Python of a process.
    ///
    /// @param bias what is to be added to addresses as linked
    /// @param file tells the interpreter's file from others, as `/proc/PID/maps` does
    /// @param path of that file
    record Running(InterpreterLayout layout, long bias, String file, String path) {
        long runtime() {
            return layout.runtime() + bias;
        }

        Footer.PythonRuntime described() {
            return new Footer.PythonRuntime(runtime(), layout.runtimeBytes());
        }
    }

    private record Retry(int number, long at) {}

    private record Starting(Running python, long since) {}

    /// @param btf of a BPF object with `struct python`
    /// @param tell the kernel side where the frames of a process are
    public Pythons(Btf btf, BiConsumer<Integer, byte[]> tell) {
        this.struct = new PythonStruct(btf);
        this.tell = tell;
    }

    /// Looks at processes that have started or loaded code, and again at those that had no interpreter, or one that was not
    /// set up yet.
    public void look(Set<Integer> changed) {
        changed.forEach(pid -> look(pid, 0));
        long now = System.nanoTime();
        List<Map.Entry<Integer, Retry>> due =
                retries.entrySet().stream().filter(retry -> now - retry.getValue().at() >= 0).toList();
        due.forEach(retry -> look(retry.getKey(), retry.getValue().number()));
        Map.copyOf(starting).forEach(this::check);
    }

    private void look(int pid, int number) {
        retries.remove(pid);
        Optional<Running> found = find(pid);
        if (found.isPresent()) {
            // Also where it is the same again: the kernel side forgets it when the process executes a program.
            starting.put(pid, new Starting(found.get(), System.nanoTime()));
        } else if (number < PAUSES.size()) {
            retries.put(pid, new Retry(number + 1, System.nanoTime() + PAUSES.get(number)));
        }
    }

    /// Nothing is read by a layout that does not fit.
    private void check(int pid, Starting process) {
        Optional<String> problem;
        try (ProcessMemory memory = ProcessMemory.of(pid)) {
            problem = new LayoutCheck(process.python().layout(), process.python().bias(), memory).problem();
        }
        if (problem.isEmpty()) {
            starting.remove(pid);
            running.put(pid, process.python());
            byRuntime.put(process.python().runtime(), process.python());
            describe(process.python());
            tell.accept(pid, struct.bytes(process.python().layout(), process.python().bias()));
        } else if (System.nanoTime() - process.since() > SET_UP_NANOS) {
            starting.remove(pid);
            if (ProcessFacts.isAlive(pid)) {
                describe(process.python().path(), new Interpreter.Unknown(problem.get()));
            }
        }
    }

    /// The Python of a process whose interpreter's state is at this address. Of a process that ended before it was looked at,
    /// it is that of its parent, which is at the same place. None where none is known.
    Optional<Running> of(int pid, long runtime) {
        Running own = running.get(pid);
        return own != null && own.runtime() == runtime
                ? Optional.of(own)
                : Optional.ofNullable(byRuntime.get(runtime));
    }

    /// The process runs another program, or has ended.
    void forget(int pid) {
        running.remove(pid);
    }

    private Optional<Running> find(int pid) {
        AddressSpace space = mapped.addressSpace(pid);
        for (Region region : space.regions()) {
            if (region.code() && mayBePython(region)) {
                Optional<Running> found = at(region);
                if (found.isPresent()) {
                    return found;
                }
            }
        }
        return Optional.empty();
    }

    private static boolean mayBePython(Region region) {
        return region.file().program() || isOfPython(region.file().path());
    }

    /// Whether a library may be Python's, by its name.
    public static boolean isOfPython(String path) {
        return path.substring(path.lastIndexOf('/') + 1).contains("python");
    }

    private Optional<Running> at(Region region) {
        if (known(region) instanceof Interpreter.Known(InterpreterLayout layout)) {
            try (ElfFile elf = ElfFile.open(region.file().opened())) {
                OptionalLong linked = elf.codeAddress(region.offset());
                if (linked.isPresent()) {
                    return Optional.of(
                            new Running(
                            layout,
                            region.start() - linked.getAsLong(),
                            region.file().identity(),
                            region.file().path()));
                }
            } catch (ElfException _) {
                return Optional.empty();
            }
        }
        return Optional.empty();
    }

    /// Looks into a file once.
    private Interpreter known(Region region) {
        return interpreters.computeIfAbsent(region.file().identity(), _ -> {
            Interpreter interpreter = writable(read(region));
            describe(region.file().path(), interpreter);
            return interpreter;
        });
    }

    private static Interpreter read(Region region) {
        try (ElfFile elf = ElfFile.open(region.file().opened())) {
            return Interpreter.of(elf).orElse(NONE);
        } catch (ElfException e) {
            return new Interpreter.Unknown(Objects.requireNonNullElse(e.getMessage(), "its file is damaged"));
        }
    }

    /// What a file says of its interpreter may be anything: one that cannot be told to the kernel side is unknown.
    private Interpreter writable(Interpreter interpreter) {
        try {
            if (interpreter instanceof Interpreter.Known(InterpreterLayout layout)) {
                byte[] _ = struct.bytes(layout, 0);
            }
            return interpreter;
        } catch (IllegalArgumentException e) {
            return new Interpreter.Unknown(String.valueOf(e.getMessage()));
        }
    }

    private synchronized void describe(String path, Interpreter interpreter) {
        switch (interpreter) {
            case Interpreter.Known(InterpreterLayout layout) ->
                described.put(path, new Footer.PythonInfo(path, layout.version().toString(), null, List.of()));
            case Interpreter.Unknown unknown when !unknown.equals(NONE) ->
                described.put(path, new Footer.PythonInfo(path, null, unknown.why(), List.of()));
            case Interpreter.Unknown _ -> {}
        }
    }

    private synchronized void describe(Running python) {
        Set<Footer.PythonRuntime> known = runtimes.computeIfAbsent(python.path(), _ -> new LinkedHashSet<>());
        if (known.size() <= MOST_RUNTIMES && python.layout().runtimeBytes() > 0) {
            known.add(python.described());
        }
    }

    /// The interpreters that were found.
    public synchronized List<Footer.PythonInfo> describe() {
        return described.values().stream()
                .map(python -> new Footer.PythonInfo(
                        python.file(),
                        python.version(),
                        python.why(),
                        python.why() == null ? runtimesOf(python.file()) : List.of()))
                .toList();
    }

    private List<Footer.PythonRuntime> runtimesOf(String path) {
        Set<Footer.PythonRuntime> known = runtimes.getOrDefault(path, Set.of());
        return known.size() <= MOST_RUNTIMES ? List.copyOf(known) : List.of();
    }

    private static final Interpreter.Unknown NONE = new Interpreter.Unknown("no interpreter");
}
