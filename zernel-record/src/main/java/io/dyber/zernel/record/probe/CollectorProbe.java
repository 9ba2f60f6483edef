package io.dyber.zernel.record.probe;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.elf.Symbol;
import io.dyber.zernel.record.event.CallMeaning;
import io.dyber.zernel.record.event.CallShape.Role;
import io.dyber.zernel.record.python.Interpreter;
import io.dyber.zernel.record.python.PythonVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Runs of Python's garbage collector (CPython 3.8 and later).
///
/// The function that collects is local to the interpreter, so it is found only where that has its local symbols, as those of
/// pyenv, conda and uv do. Others, as Debian's and Fedora's, have tracepoints instead, which do not tell who asked.
///
/// The function runs thousands of times a second where a program makes many objects, each time for some microseconds over
/// the young ones. A probe at its `ret` would cost a debug trap each time, many times what it takes itself. So its end is
/// seen where it empties the lists of free objects, which it does last, and only when it looked through all objects.
///
/// @param library the interpreter, which is a library or in the program
public record CollectorProbe(String library) implements ProbeSpec {
    public static final String KIND = "gc";
    public static final String INTERPRETER = "a Python interpreter";
    static final String FUNCTION = "gc_collect_main";

    /// Why an interpreter's collector cannot be probed.
    static final String HIDDEN = "this Python is stripped of its local symbols, and built without --with-dtrace";

    private static final String BEFORE_3_10 = "collect";
    private static final String SINCE_3_14 = "_PyGC_Collect";
    private static final String ASKED = "gc_collect";
    private static final List<String> LAST = List.of(
            "_PyGC_ClearAllFreeLists",
            "_PyContext_ClearFreeList",
            "PyContext_ClearFreeList",
            "_PyDict_ClearFreeList",
            "PyDict_ClearFreeList",
            "_PyList_ClearFreeList",
            "PyList_ClearFreeList");
    private static final int SAYS_WHY = 0x030d;
    private static final int INCREMENTAL = 0x030e;

    /// `_PyGC_Reason`.
    private static final List<String> REASONS = List.of("automatic", "shutdown", "gc.collect");

    private static final String UNKNOWN_REASON = "collection";
    private static final String PROVIDER = "python";
    private static final String START = "gc__start";
    private static final String DONE = "gc__done";

    @Override
    public String kind() {
        return KIND;
    }

    /// The collector of an interpreter that is a library, and of one that is the program.
    public static List<FunctionProbe> hooks() {
        return Stream.of("libpython3*.so*", "python*")
                .map(CollectorProbe::new)
                .map(probe -> new FunctionProbe(probe, Role.INSTANT, false, CallMeaning.COLLECTION_END, false))
                .toList();
    }

    /// What is probed in a file; nothing in one that is no interpreter, or does not say where its collector is.
    public List<FunctionProbe> hooks(ElfFile elf) throws ElfException {
        if (!Interpreter.isIn(elf)) {
            return List.of();
        }
        int version = PythonVersion.of(elf).minor();
        List<String> collectors = collectors(elf, version);
        List<String> lasts = lasts(elf);
        if (collectors.isEmpty() || lasts.isEmpty()) {
            return tracepoints(elf);
        }
        List<String> askers = version < SAYS_WHY ? functions(elf, ASKED) : List.of();
        String name = askers.isEmpty() && version < SAYS_WHY ? UNKNOWN_REASON : REASONS.getFirst();
        List<FunctionProbe> hooks = new ArrayList<>();
        askers.forEach(asker -> hooks.add(
                hook("", asker, List.of(), Role.INSTANT_FACT, CallMeaning.COLLECTION_ASKED, true)));
        for (String collector : collectors) {
            List<Capture> captures = captures(elf, collector, version);
            hooks.add(hook(name, collector, captures, Role.INSTANT_FACT, CallMeaning.COLLECTION_BEGIN, false));
        }
        lasts.forEach(last -> hooks.add(
                hook(name, last, List.of(), Role.INSTANT, CallMeaning.FULL_COLLECTION_END, false)));
        return hooks;
    }

    private FunctionProbe hook(
            String name, String symbol, List<Capture> captures, Role role, CallMeaning meaning, boolean optional) {
        return new FunctionProbe(new Function(KIND, name, library, symbol, captures), role, false, meaning, optional);
    }

    private static List<String> lasts(ElfFile elf) throws ElfException {
        for (String last : LAST) {
            List<String> found = functions(elf, last);
            if (!found.isEmpty()) {
                return found;
            }
        }
        return List.of();
    }

    private static List<String> collectors(ElfFile elf, int version) throws ElfException {
        List<String> usual = functions(elf, FUNCTION);
        if (!usual.isEmpty()) {
            return usual;
        }
        if (version >= INCREMENTAL) {
            return functions(elf, SINCE_3_14);
        }
        return version == 0 ? functions(elf, BEFORE_3_10) : List.of();
    }

    /// The functions that a compiler made of one: `gc_collect_main`, `collect.constprop.0`, `gc_collect_main.lto_priv.0`.
    private static List<String> functions(ElfFile elf, String name) throws ElfException {
        return elf.find(List.of(name, name + ".*")).stream()
                .flatMap(match -> match.symbols().stream())
                .filter(symbol -> symbol.type() == Symbol.Type.FUNCTION)
                .map(Symbol::name)
                .filter(symbol -> !symbol.contains(".part."))
                .distinct()
                .toList();
    }

    /// `gc_collect_main(PyThreadState *, int generation, ...)`; since 3.13 the third argument says why.
    private static List<Capture> captures(ElfFile elf, String symbol, int version) throws ElfException {
        List<Capture> captures = new ArrayList<>();
        boolean changed = symbol.contains(".constprop.") || symbol.contains(".isra.");
        if (version >= SAYS_WHY && !changed) {
            captures.add(new Capture("name", Source.ARGUMENT, 3, List.of(), Width.U32, false, 0, REASONS));
        }
        if (!changed && (!symbol.startsWith(BEFORE_3_10) || isPython39(elf))) {
            captures.add(Capture.argument("generation", 2, Width.S32));
        }
        return captures;
    }

    /// Of those before 3.10, whose function has the thread as its first argument.
    private static boolean isPython39(ElfFile elf) throws ElfException {
        return !functions(elf, "PyObject_GC_IsTracked").isEmpty();
    }

    private List<FunctionProbe> tracepoints(ElfFile elf) throws ElfException {
        Set<String> names = elf.usdtNotes().stream()
                .filter(note -> note.provider().equals(PROVIDER))
                .map(note -> note.name())
                .collect(Collectors.toSet());
        if (!names.containsAll(Set.of(START, DONE))) {
            return List.of();
        }
        return List.of(
                tracepoint(START, "generation", Role.INSTANT_FACT, CallMeaning.COLLECTION_BEGIN),
                tracepoint(DONE, "count", Role.INSTANT, CallMeaning.COLLECTION_END));
    }

    private FunctionProbe tracepoint(String tracepoint, String column, Role role, CallMeaning meaning) {
        List<Capture> captures = List.of(Capture.argument(column, 1, Width.NATURAL));
        return new FunctionProbe(
                new UsdtProbe(KIND, UNKNOWN_REASON, library, PROVIDER, tracepoint, captures), role, false, meaning, false);
    }
}
