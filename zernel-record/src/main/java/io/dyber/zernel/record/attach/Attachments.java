package io.dyber.zernel.record.attach;

import io.dyber.zernel.record.attach.ProbedLibraries.Found;
import io.dyber.zernel.record.bpf.Backend;
import io.dyber.zernel.record.bpf.BpfException;
import io.dyber.zernel.record.bpf.ProbeLinks;
import io.dyber.zernel.record.bpf.Site;
import io.dyber.zernel.record.bpf.UprobeProbes;
import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.elf.x86.Site.Cost;
import io.dyber.zernel.record.event.CallShape;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.Layer;
import io.dyber.zernel.record.event.Load;
import io.dyber.zernel.record.job.Job;
import io.dyber.zernel.record.option.Detail;
import io.dyber.zernel.record.option.Progress;
import io.dyber.zernel.record.option.RecordOptions;
import io.dyber.zernel.record.option.RecorderException;
import io.dyber.zernel.record.probe.Function;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.probe.ProbeSpec;
import io.dyber.zernel.record.probe.PythonProbe;
import io.dyber.zernel.record.probe.Symbols;
import io.dyber.zernel.record.probe.Tracepoints;
import io.dyber.zernel.record.probe.UsdtProbe;
import io.dyber.zernel.record.process.Machine;
import io.dyber.zernel.record.process.MappedFile;
import io.dyber.zernel.record.process.MappedFiles;
import io.dyber.zernel.record.rows.EventPump;
import io.dyber.zernel.record.schema.EventType;
import io.dyber.zernel.record.schema.FieldType;
import io.dyber.zernel.record.schema.Schema;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/// Puts probes on functions as the libraries that hold them turn up.
///
/// Each library file is probed once, for every process that maps it.
public final class Attachments {
    private final BpfPrograms kernel;
    private final EventPump pump;
    private final Schema schema;
    private final Job job;
    private final DetailProbes detail;
    private final boolean virtualMachine = Machine.isVirtual();
    private final boolean byReturn = !Machine.endsFilteredAtReturns();
    private final Progress progress;
    private final List<FunctionProbe> hooks;
    private final Set<ProbeSpec> named;
    private final LibrarySelectors libraries;
    private final Optional<FunctionTable> table;
    private final MappedFiles mapped = new MappedFiles();
    private final boolean sweeps;
    private final Set<String> seen = new HashSet<>();
    private final Set<String> reasons = new HashSet<>();
    private final ProbedLibraries account;
    private final Map<String, Integer> attachedTo = new HashMap<>();
    private final ProbedFunctions probed;
    private final RuntimeLayer runtimes;

    public Attachments(
            BpfPrograms kernel,
            EventPump pump,
            Schema schema,
            Job job,
            DetailProbes detail,
            RecordOptions options,
            ProbedLibraries account,
            Progress progress) {
        this.kernel = kernel;
        this.account = account;
        this.probed = new ProbedFunctions(
                kernel, account::isIdle, options.probes().stream().map(FunctionProbe::named).toList());
        this.pump = pump;
        this.schema = schema;
        this.job = job;
        this.detail = detail;
        this.progress = progress;
        this.runtimes = new RuntimeLayer(pump, detail, probed, job.kernels(), new RuntimeLayer.Attaching() {
            @Override
            public int attach(MappedFile file, List<Placed> functions, List<ProbeLinks> links) {
                return attachInGroups(file, functions, links);
            }

            @Override
            public void announce(MappedFile file, int attached) {
                Attachments.this.announce(file, attached);
            }
        });
        this.sweeps = options.everyone();
        this.table = kernel.functionsBtf().map(btf -> new FunctionTable(btf, withStack(options, schema)));
        for (ProbeSpec spec : options.probes()) {
            if (spec instanceof Function function) {
                FunctionTable.check(function);
            }
            if (spec instanceof PythonProbe python && python.isOfPython()) {
                job.wantPython(python.glob(), python.role());
            }
        }
        this.hooks = options.hooks();
        this.named = options.probes().stream()
                .flatMap(probe -> FunctionProbe.asked(probe).stream())
                .map(FunctionProbe::probe)
                .collect(Collectors.toUnmodifiableSet());
        this.libraries = new LibrarySelectors(hooks.stream().map(hook -> hook.probe().library()).toList());
    }

    /// How functions are probed, for people.
    public String backend() {
        return kernel.functions().map(UprobeProbes::backend).map(Backend::title).orElse("no");
    }

    /// What became of each function.
    public ProbedFunctions functions() {
        return probed;
    }

    /// What became of each file.
    public ProbedLibraries account() {
        return account;
    }

    /// Which files the probes mean.
    public LibrarySelectors libraries() {
        return libraries;
    }

    /// Beginnings of the names of libraries that are meant.
    public List<String> stems() {
        return libraries.stems();
    }

    /// Whether a probe means a library by the name of its file.
    public boolean mean(String path) {
        return libraries.meanName(path.substring(path.lastIndexOf('/') + 1));
    }

    /// Looks at the libraries of these processes and probes those not seen before.
    ///
    /// @return those that turn out to have a probed library loaded; a process whose libraries have not changed since
    ///     the last call is not among them
    public Set<Integer> scan(Set<Integer> pids, Found found) {
        Set<Integer> users = new LinkedHashSet<>();
        for (int pid : pids) {
            List<MappedFile> files = sweeps ? mapped.changed(pid) : mapped.of(pid);
            for (MappedFile file : files) {
                offer(file, found);
                if (account.isProbed(file.identity())) {
                    use(file.identity());
                    if (isReason(file.identity())) {
                        users.add(pid);
                    }
                }
            }
            if (!files.isEmpty()) {
                runtimes.see(pid, files);
            }
        }
        runtimes.settle(kernel::targets);
        return users;
    }

    /// Whether a process is worth recording because it has loaded this file.
    public boolean isReason(String identity) {
        return reasons.contains(identity);
    }

    /// Probes files that can be named before anybody has loaded them: libraries given by their whole path, and the
    /// program of the command. So not even the first call is missed.
    public void scanAhead(Optional<Path> program) {
        hooks.stream()
                .map(hook -> hook.probe().library())
                .filter(library -> library.startsWith("/"))
                .distinct()
                .forEach(library ->
                        MappedFiles.at(Path.of(library), false).ifPresent(file -> offer(file, Found.GIVEN)));
        program.flatMap(path -> MappedFiles.at(path, true)).ifPresent(file -> offer(file, Found.GIVEN));
        runtimes.settle(kernel::targets);
    }

    /// Attaches the probes of detail, which are not there yet.
    ///
    /// @param before done on the pump's thread before it decodes any of them
    /// @return since when each call is recorded, on CLOCK_MONOTONIC
    public long openDetail(Runnable before) {
        detail.attach();
        runtimes.settle(kernel::targets);
        pump.later(_ -> before.run());
        return detail.open();
    }

    /// Records no more calls that are detail, and takes their probes away when those have ended that are open.
    ///
    /// @param after done on the pump's thread when it has decoded the last that began
    /// @return since when none is recorded, on CLOCK_MONOTONIC
    public long closeDetail(Runnable after) {
        long closed = detail.close();
        pump.onceDecoded(_ -> after.run());
        return closed;
    }

    /// Whether no probe of detail is there any more.
    public boolean settleDetail() {
        boolean settled = detail.settle();
        if (settled) {
            runtimes.settle(kernel::targets);
        }
        return settled;
    }

    /// Ends what has to end before the other probes do.
    public void detachOuter() {
        runtimes.detach();
    }

    /// Notes that a process has loaded a probed file.
    public void loaded(String identity, Load load, long wentOnNanos) {
        use(identity);
        account.loaded(identity, load, wentOnNanos);
    }

    /// What was probed ahead is worth a line when it is loaded.
    private void use(String identity) {
        String path = account.path(identity);
        if (account.used(path)) {
            say(attachedTo.getOrDefault(identity, 0), path);
        }
    }

    /// Probes a file that has not been seen before, whether a process maps it already or will.
    public void offer(MappedFile file, Found found) {
        if (table.isEmpty() || seen.contains(file.identity())) {
            return;
        }
        List<FunctionProbe> wanted = wanted(file);
        if (!wanted.isEmpty()) {
            seen.add(file.identity());
            if (found == Found.FORESEEN) {
                account.foreseen(file.path());
            }
            try {
                if (ElfFile.isOne(file.opened())) {
                    probe(file, wanted, table.get(), found);
                } else {
                    refuseFormat(file, wanted);
                }
            } catch (ElfException e) {
                failUnlessGone(file, wanted, e);
            }
        }
    }

    private List<FunctionProbe> wanted(MappedFile file) {
        Set<String> meant = libraries.of(file);
        return meant.isEmpty()
                ? List.of()
                : hooks.stream().filter(hook -> meant.contains(hook.probe().library())).toList();
    }

    /// A file without functions, such as a script or a linker script of a library's name, matters only to a probe that the
    /// user named: the built-in ones lack nothing.
    private void refuseFormat(MappedFile file, List<FunctionProbe> wanted) {
        wanted.stream()
                .filter(hook -> named.contains(hook.probe()))
                .forEach(hook -> fail(hook, file, "", hook.symbol(), "failed", "it is not an ELF file"));
    }

    /// A file that could be opened only through a process that has ended is looked at again when another one maps it.
    private void failUnlessGone(MappedFile file, List<FunctionProbe> wanted, ElfException problem) {
        if (file.isGone()) {
            seen.remove(file.identity());
        } else {
            String why = String.valueOf(problem.getMessage());
            wanted.forEach(hook -> fail(hook, file, "", hook.symbol(), "failed", why));
        }
    }

    /// The kinds whose rows have a stack, if any is to be taken.
    private static Set<String> withStack(RecordOptions options, Schema schema) {
        return options.stacks().blocked().isZero()
                ? Set.of()
                : schema.kinds().stream()
                        .filter(kind -> kind.fields().stream().anyMatch(field -> field.type() == FieldType.STACK))
                        .map(EventType::kind)
                        .collect(Collectors.toSet());
    }

    private void probe(MappedFile file, List<FunctionProbe> wanted, FunctionTable functions, Found found) throws ElfException {
        if (wanted.stream().anyMatch(FunctionProbe::isReasonToRecord)) {
            reasons.add(file.identity());
        }
        // What is found only through a process could else be read, and not probed because that has ended meanwhile.
        MappedFile lasting = file.opened().startsWith("/proc") ? held(file) : file;
        try (ElfFile elf = ElfFile.open(file.opened())) {
            attach(lasting, elf, wanted, functions, found);
        } catch (RecorderException e) {
            wanted.forEach(hook -> fail(hook, file, "", hook.symbol(), "failed", e.getMessage()));
            say(e);
        }
    }

    private void say(RecorderException e) {
        progress.notice(e.getMessage() + e.hint().map(hint -> "\nhint: " + hint).orElse(""));
    }

    private void attach(MappedFile file, ElfFile elf, List<FunctionProbe> wanted, FunctionTable functions, Found found)
            throws ElfException {
        String buildId = elf.buildId().orElse("");
        Map<ProbeSpec, FunctionProbe> byProbe = byProbe(file, elf, wanted, buildId);
        List<Placed> placed = new ArrayList<>();
        Symbols symbols = Symbols.resolve(elf, only(Function.class, byProbe.keySet()), byReturn);
        Set<Function> tooBroad = refuseTooBroad(file, buildId, symbols, byProbe);
        for (Symbols.Found symbol : symbols.found()) {
            if (tooBroad.contains(symbol.function())) {
                continue;
            }
            FunctionProbe hook = hookOf(symbol.function(), byProbe);
            String off = offBecause(hook, symbol);
            if (off.isEmpty()) {
                placed.add(place(hook, symbol, functions, file, buildId));
            } else {
                probed.add(ProbedFunction.off(hook, file.path(), buildId, symbol, off));
            }
        }
        Tracepoints tracepoints = Tracepoints.resolve(elf, only(UsdtProbe.class, byProbe.keySet()));
        for (Tracepoints.Found tracepoint : tracepoints.found()) {
            FunctionProbe hook = hookOf(tracepoint.probe(), byProbe);
            if (detail.detail().attach(hook)) {
                placed.add(place(hook, tracepoint, functions, file, buildId));
            }
        }
        List<ProbedFunction> missing = new ArrayList<>();
        for (Symbols.Missing one : symbols.missing()) {
            FunctionProbe hook = hookOf(one.function(), byProbe);
            missing.add(ProbedFunction.failed(hook, one.symbol(), file.path(), buildId, "missing", one.explanation()));
        }
        for (Tracepoints.Missing one : tracepoints.missing()) {
            FunctionProbe hook = hookOf(one.probe(), byProbe);
            missing.add(ProbedFunction.failed(hook, hook.symbol(), file.path(), buildId, "missing", one.why()));
        }
        note(missing, symbols.found(), tracepoints.found());
        attach(file, buildId, placed, found);
    }

    /// The hook that something was looked up for.
    private static FunctionProbe hookOf(ProbeSpec probe, Map<ProbeSpec, FunctionProbe> byProbe) {
        FunctionProbe hook = byProbe.get(probe);
        if (hook == null) {
            throw new IllegalStateException("probing a function that was not looked up: " + probe);
        }
        return hook;
    }

    /// Of a pattern that means more functions than there is room for, none is probed: part of them would mislead, and take
    /// the room of other probes.
    private Set<Function> refuseTooBroad(
            MappedFile file, String buildId, Symbols symbols, Map<ProbeSpec, FunctionProbe> byProbe) {
        Map<Function, Integer> sizes = new LinkedHashMap<>(symbols.beyondLimit());
        symbols.found().stream()
                .map(Symbols.Found::function)
                .filter(Function::isGlob)
                .forEach(function -> sizes.merge(function, 1, Integer::sum));
        sizes.values().removeIf(size -> size <= kernel.room());
        sizes.forEach((function, size) -> {
            String why = String.format(
                    Locale.ROOT, "%,d functions match, and there is room for %,d", size, kernel.room());
            fail(hookOf(function, byProbe), file, buildId, function.symbol(), "failed", why);
            say(new RecorderException(
                    "probing '" + function.symbol() + "' in '" + file.path() + "': " + why + "; none of them is probed",
                    "narrow the --probe pattern, as by the beginning of the names: 'zernel-record probes --functions' lists them"));
        });
        return sizes.keySet();
    }

    /// Why a function that is there is not to be probed, or empty. What is vital is rare, so that a trap does not matter:
    /// ncclCommInitRankConfig, which tells who a rank is, is one that costs it.
    private String offBecause(FunctionProbe hook, Symbols.Found found) {
        if (!detail.detail().attach(hook)) {
            return "left out by --detail " + detail.detail();
        }
        if (isProbedWhereLeft(hook, found) && found.end() == Symbols.End.UNKNOWN) {
            return "from its code cannot be told where it is left, and a probe of its return could end the process";
        }
        boolean dear = found.site().cost() == Cost.SINGLE_STEPPED && virtualMachine;
        return dear && hook.optional() && !hook.vital() ? "a debug trap at each call is too expensive in a virtual machine" : "";
    }

    /// What the hooks mean in this file.
    private Map<ProbeSpec, FunctionProbe> byProbe(MappedFile file, ElfFile elf, List<FunctionProbe> wanted, String buildId)
            throws ElfException {
        Map<ProbeSpec, FunctionProbe> byProbe = new LinkedHashMap<>();
        for (FunctionProbe hook : wanted) {
            List<FunctionProbe> meant = hook.in(elf);
            meant.forEach(one -> byProbe.put(one.probe(), one));
            String nothing = meant.isEmpty() ? hook.nothingBecause(elf) : "";
            if (!nothing.isEmpty()) {
                fail(hook, file, buildId, hook.symbol(), "missing", nothing);
            }
        }
        return byProbe;
    }

    private static <T extends ProbeSpec> List<T> only(Class<T> type, Set<ProbeSpec> probes) {
        return probes.stream().filter(type::isInstance).map(type::cast).toList();
    }

    /// Versions of a library differ in what they export: that some of its optional functions are not there is worth a
    /// word only when all of the kind are missing.
    private void note(List<ProbedFunction> missing, List<Symbols.Found> found, List<Tracepoints.Found> tracepoints) {
        Set<String> foundKinds = new HashSet<>();
        found.forEach(one -> foundKinds.add(one.function().kind()));
        tracepoints.forEach(one -> foundKinds.add(one.probe().kind()));
        Set<String> said = new HashSet<>();
        for (ProbedFunction row : missing) {
            String kind = row.hook().probe().kind();
            if (!row.hook().optional() || (!row.hook().isGuess() && !foundKinds.contains(kind) && said.add(kind))) {
                probed.add(row);
            }
        }
    }

    /// A probe that has its number and is about to be attached.
    record Placed(FunctionProbe hook, Site site, FunctionDefinition definition, ProbedFunction row) {
        /// Tracepoints and functions are attached in different ways.
        String group() {
            return hook.probe() instanceof UsdtProbe ? "tracepoint" : "function";
        }
    }

    private Placed place(
            FunctionProbe hook, Symbols.Found found, FunctionTable functions, MappedFile file, String buildId) {
        boolean left = isProbedWhereLeft(hook, found);
        boolean joins = left || kernel.functions().orElseThrow().backend().joinsByStackPointer();
        int id = newFunction(hook, found.symbol(), FunctionTable.sendsEnter(hook, joins));
        FunctionDefinition definition = functions.encode(
                hook, Decoder.numberOf(schema, hook.probe().kind()), joins, found.site().replaced());
        CallShape shape = functions.shape(hook, found.symbol(), joins, job.interpretation(hook.meaning()));
        return new Placed(
                hook,
                new Site(found.probeOffset(), id, end(hook, left), exits(found), found.jumps()),
                define(id, hook, definition, shape),
                ProbedFunction.attached(id, hook, file.path(), buildId, found, left));
    }

    private static List<Site.Exit> exits(Symbols.Found found) {
        return found.returns().stream()
                .map(exit -> new Site.Exit(found.offset() + exit.at(), exit.height()))
                .toList();
    }

    /// Whether a function is probed where it is left instead of on its return.
    private boolean isProbedWhereLeft(FunctionProbe hook, Symbols.Found found) {
        boolean may = hook.role() == CallShape.Role.CALL || (hook.role().returns() && !byReturn);
        return may && found.end() != Symbols.End.RETURN;
    }

    /// What is probed beside the start of a function.
    static Site.End end(FunctionProbe hook, boolean left) {
        return left ? Site.End.EXITS : hook.role().returns() ? Site.End.RETURN : Site.End.NOT_SEEN;
    }

    private Placed place(
            FunctionProbe hook, Tracepoints.Found found, FunctionTable functions, MappedFile file, String buildId) {
        int id = newFunction(hook, found.symbol(), true);
        FunctionDefinition definition = functions.encode(hook, Decoder.numberOf(schema, hook.probe().kind()), found.note());
        CallShape shape = functions.shape(hook, found.note(), job.interpretation(hook.meaning()));
        return new Placed(
                hook,
                new Site(found.note().fileOffset(), id, Site.End.NOT_SEEN, found.note().semaphoreOffset()),
                define(id, hook, definition, shape),
                ProbedFunction.attached(id, hook, file.path(), buildId, found));
    }

    private FunctionDefinition define(int id, FunctionProbe hook, FunctionDefinition encoded, CallShape shape) {
        boolean comesAndGoes = Detail.concern(hook) && detail.detail().inWindows();
        FunctionDefinition definition = comesAndGoes ? encoded.inWindows() : encoded;
        kernel.defineFunction(id, sampled(hook, definition));
        pump.later(decoder -> decoder.define(id, shape));
        return definition;
    }

    private FunctionDefinition sampled(FunctionProbe hook, FunctionDefinition definition) {
        return Detail.concern(hook) ? definition.sampled(detail.sample(hook)) : definition;
    }

    private int newFunction(FunctionProbe hook, String symbol, boolean sendsEnter) {
        String kind = hook.role().isEvent() ? hook.probe().kind() : BpfPrograms.FACT;
        return kernel.newFunction(kind, symbol, sendsEnter);
    }

    /// Those of the runtime's calls are left to [RuntimeLayer].
    private void attach(MappedFile file, String buildId, List<Placed> placed, Found found) {
        List<Placed> ofRuntime = placed.stream().filter(one -> one.hook().layer() == Layer.RUNTIME).toList();
        List<Placed> others = placed.stream().filter(one -> one.hook().layer() != Layer.RUNTIME).toList();
        if (!ofRuntime.isEmpty()) {
            runtimes.add(held(file), ofRuntime);
        }
        List<Placed> frequent = others.stream().filter(one -> Detail.concern(one.hook())).toList();
        List<Placed> rare = others.stream().filter(one -> !Detail.concern(one.hook())).toList();
        int attached = attachInGroups(file, rare, new ArrayList<>());
        if (!frequent.isEmpty()) {
            MappedFile lasting = detail.detail().inWindows() ? held(file) : file;
            attached += detail.add(links -> attachInGroups(lasting, frequent, links));
        }
        Set<String> driven = new HashSet<>();
        others.stream()
                .filter(one -> one.hook().layer() == Layer.DRIVER)
                .forEach(one -> driven.add(one.hook().probe().kind()));
        driven.removeIf(kind -> !probed.isWhole(file.path(), kind));
        if (!driven.isEmpty()) {
            runtimes.addDriver(file, driven);
        }
        announce(file, attached);
        if (found == Found.LATE) {
            runtimes.settle(kernel::targets);
        }
        if (attached > 0 || !ofRuntime.isEmpty()) {
            account.attached(file.identity(), file.path(), buildId, found, isReason(file.identity()));
            boolean known = found == Found.RUNNING || found == Found.LATE;
            kernel.decide(file.identity(), known ? CodeState.LOADED : CodeState.PROBED);
        }
    }

    /// The file as it can be opened later, for probes that come and go: also when another has taken its name, or the process
    /// through which it was found has ended.
    private MappedFile held(MappedFile file) {
        return file.opened().startsWith("/proc/self")
                ? file
                : new MappedFile(
                        file.identity(), file.path(), kernel.hold(file.opened()), file.program(), file.deleted());
    }

    private int attachInGroups(MappedFile file, List<Placed> placed, List<ProbeLinks> links) {
        Map<String, List<Placed>> groups = new LinkedHashMap<>();
        placed.forEach(one -> groups.computeIfAbsent(one.group(), _ -> new ArrayList<>()).add(one));
        int attached = 0;
        for (List<Placed> group : groups.values()) {
            attached += attachTogether(file, group, links);
        }
        return attached;
    }

    /// Of a file that was foreseen, it is said when a process loads it.
    private void announce(MappedFile file, int attached) {
        if (attached > 0) {
            attachedTo.merge(file.identity(), attached, Integer::sum);
            if (!account.isIdle(file.path())) {
                say(attached, file.path());
            }
        }
    }

    private void say(int attached, String path) {
        progress.notice("probing " + attached + (attached == 1 ? " function" : " functions") + " of " + path);
    }

    private int attachTogether(MappedFile file, List<Placed> group, List<ProbeLinks> attached) {
        UprobeProbes probes = kernel.functions().orElseThrow();
        List<Site> sites = group.stream().map(Placed::site).toList();
        String path = file.opened().toString();
        // How many of the calls are recorded may have changed since they were defined.
        group.forEach(one -> kernel.defineFunction(one.site().function(), sampled(one.hook(), one.definition())));
        try {
            ProbeLinks links = group.getFirst().hook().probe() instanceof UsdtProbe
                    ? probes.attachTracepoints(path, sites)
                    : probes.attach(path, sites);
            attached.add(links);
            for (Placed one : group) {
                probed.add(one.row());
                if (Detail.concern(one.hook())) {
                    detail.attached(one.site().function(), one.hook(), one.row().symbol(), one.definition());
                }
            }
            return group.size();
        } catch (BpfException e) {
            if (e.isOfCode() && group.size() > 1) {
                int half = group.size() / 2;
                return attachTogether(file, group.subList(0, half), attached)
                        + attachTogether(file, group.subList(half, group.size()), attached);
            }
            refused(group, e);
            return 0;
        }
    }

    /// That some of what matches a pattern cannot be probed is nothing to worry about.
    private void refused(List<Placed> group, BpfException refusal) {
        Placed first = group.getFirst();
        if (refusal.isOfCode() && first.hook().probe() instanceof Function function && function.isGlob()) {
            probed.add(first.row().refused("missing", "the kernel cannot probe one of the instructions it begins or ends with"));
        } else {
            group.forEach(one -> probed.add(one.row().refused("failed", refusal.getMessage())));
            progress.notice(refusal.getMessage());
        }
    }

    private void fail(FunctionProbe hook, MappedFile file, String buildId, String symbol, String state, String why) {
        probed.add(ProbedFunction.failed(hook, symbol, file.path(), buildId, state, why));
    }
}
