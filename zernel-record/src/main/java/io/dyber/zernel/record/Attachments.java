package io.dyber.zernel.record;

import io.dyber.zernel.record.bpf.Backend;
import io.dyber.zernel.record.bpf.BpfException;
import io.dyber.zernel.record.bpf.Site;
import io.dyber.zernel.record.bpf.UprobeProbes;
import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.event.CallCounts;
import io.dyber.zernel.record.event.CallShape;
import io.dyber.zernel.record.event.Decoder;
import io.dyber.zernel.record.event.Schema;
import io.dyber.zernel.record.job.Job;
import io.dyber.zernel.record.probe.Function;
import io.dyber.zernel.record.probe.Hook;
import io.dyber.zernel.record.probe.LibrarySelector;
import io.dyber.zernel.record.probe.MappedFile;
import io.dyber.zernel.record.probe.MappedFiles;
import io.dyber.zernel.record.probe.Probe;
import io.dyber.zernel.record.probe.ProbeSpec;
import io.dyber.zernel.record.probe.Probes;
import io.dyber.zernel.record.probe.Symbols;
import io.dyber.zernel.record.probe.Tracepoints;
import io.dyber.zernel.record.probe.UsdtProbe;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Puts probes on functions as the libraries that hold them turn up, and keeps the account of it.
///
/// Each library file is probed once, for every process that maps it.
final class Attachments {
    private final KernelSide kernel;
    private final EventPump pump;
    private final Schema schema;
    private final Job job;
    private final Progress progress;
    private final List<Hook> hooks = new ArrayList<>();
    private final Optional<FunctionTable> table;
    private final MappedFiles mapped = new MappedFiles();
    private final boolean sweeps;
    private final Set<String> seen = new HashSet<>();
    private final Set<String> probedFiles = new HashSet<>();
    private final List<ProbedFunction> probed = new ArrayList<>();

    Attachments(
            KernelSide kernel,
            EventPump pump,
            Schema schema,
            Job job,
            RecordOptions options,
            Progress progress) {
        this.kernel = kernel;
        this.pump = pump;
        this.schema = schema;
        this.job = job;
        this.progress = progress;
        this.sweeps = options.everyone();
        this.table = kernel.functionsBtf().map(FunctionTable::new);
        for (Probe probe : Probes.all()) {
            if (options.kinds().contains(probe.kind())) {
                hooks.addAll(probe.hooks());
            }
        }
        for (ProbeSpec spec : options.probes()) {
            if (spec instanceof Function function) {
                FunctionTable.check(function);
            }
            hooks.add(Hook.named(spec));
        }
    }

    /// How functions are probed, for people.
    String backend() {
        return kernel.functions().map(UprobeProbes::backend).map(Backend::title).orElse("no");
    }

    /// Functions attached so far.
    int attached() {
        return (int) probed.stream().filter(ProbedFunction::isAttached).count();
    }

    boolean isAttached(String kind) {
        return probed.stream().anyMatch(row -> row.isAttached() && row.hook().probe().kind().equals(kind));
    }

    /// Looks at the libraries of these processes and probes those not seen before.
    ///
    /// @return those that turn out to have a probed library loaded; a process whose libraries have not changed since
    ///     the last call is not among them
    Set<Integer> scan(Set<Integer> pids) {
        Set<Integer> users = new LinkedHashSet<>();
        for (int pid : pids) {
            for (MappedFile file : sweeps ? mapped.changed(pid) : mapped.of(pid)) {
                offer(file);
                if (probedFiles.contains(file.identity())) {
                    users.add(pid);
                }
            }
        }
        return users;
    }

    /// Probes files that can be named before anybody has loaded them: libraries given by their whole path, and the
    /// program of the command. So not even the first call is missed.
    void scanAhead(Optional<Path> program) {
        hooks.stream()
                .map(hook -> hook.probe().library())
                .filter(library -> library.startsWith("/"))
                .distinct()
                .forEach(library -> MappedFiles.at(Path.of(library), false).ifPresent(this::offer));
        program.flatMap(path -> MappedFiles.at(path, true)).ifPresent(this::offer);
    }

    private void offer(MappedFile file) {
        if (!seen.add(file.identity())) {
            return;
        }
        List<Hook> wanted = hooks.stream()
                .filter(hook -> new LibrarySelector(hook.probe().library()).matches(file.path(), file.program()))
                .toList();
        if (!wanted.isEmpty() && table.isPresent()) {
            try (ElfFile elf = ElfFile.open(file.opened())) {
                attach(file, elf, wanted, table.get());
            } catch (ElfException e) {
                if (file.isGone()) {
                    seen.remove(file.identity());
                    return;
                }
                String why = String.valueOf(e.getMessage());
                wanted.forEach(hook -> fail(hook, file, "", hook.symbol(), "failed", why));
            }
        }
    }

    private void attach(MappedFile file, ElfFile elf, List<Hook> wanted, FunctionTable functions)
            throws ElfException {
        String buildId = elf.buildId().orElse("");
        Map<ProbeSpec, Hook> byProbe = new LinkedHashMap<>();
        wanted.forEach(hook -> byProbe.put(hook.probe(), hook));
        List<Site> sites = new ArrayList<>();
        List<Site> tracepointSites = new ArrayList<>();
        List<ProbedFunction> rows = new ArrayList<>();
        Symbols symbols = Symbols.resolve(elf, only(Function.class, byProbe.keySet()));
        for (Symbols.Found found : symbols.found()) {
            Hook hook = byProbe.getOrDefault(found.function(), wanted.getFirst());
            int id = define(hook, found, functions);
            sites.add(new Site(found.probeOffset(), id, hook.role().returns(), 0));
            rows.add(ProbedFunction.attached(id, hook, file.path(), buildId, found));
        }
        Tracepoints tracepoints = Tracepoints.resolve(elf, only(UsdtProbe.class, byProbe.keySet()));
        for (Tracepoints.Found found : tracepoints.found()) {
            Hook hook = byProbe.getOrDefault(found.probe(), wanted.getFirst());
            int id = define(hook, found, functions);
            tracepointSites.add(new Site(found.note().fileOffset(), id, false, found.note().semaphoreOffset()));
            rows.add(ProbedFunction.attached(id, hook, file.path(), buildId, found));
        }
        List<ProbedFunction> missing = new ArrayList<>();
        for (Symbols.Missing one : symbols.missing()) {
            Hook hook = byProbe.getOrDefault(one.function(), wanted.getFirst());
            missing.add(ProbedFunction.failed(hook, one.symbol(), file.path(), buildId, "missing", one.explanation()));
        }
        for (Tracepoints.Missing one : tracepoints.missing()) {
            Hook hook = byProbe.getOrDefault(one.probe(), wanted.getFirst());
            missing.add(ProbedFunction.failed(hook, hook.symbol(), file.path(), buildId, "missing", one.why()));
        }
        note(missing, rows);
        link(file, sites, tracepointSites, rows);
    }

    private static <T extends ProbeSpec> List<T> only(Class<T> type, Set<ProbeSpec> probes) {
        return probes.stream().filter(type::isInstance).map(type::cast).toList();
    }

    /// Versions of a library differ in what they export: that some of its optional functions are not there is worth a
    /// word only when all of the kind are missing.
    private void note(List<ProbedFunction> missing, List<ProbedFunction> found) {
        Set<String> foundKinds = new HashSet<>();
        found.forEach(row -> foundKinds.add(row.hook().probe().kind()));
        Set<String> said = new HashSet<>();
        for (ProbedFunction row : missing) {
            String kind = row.hook().probe().kind();
            boolean program = row.hook().probe().library().equals(LibrarySelector.PROGRAM);
            if (!row.hook().optional() || (!program && !foundKinds.contains(kind) && said.add(kind))) {
                probed.add(row);
            }
        }
    }

    private int define(Hook hook, Symbols.Found found, FunctionTable functions) {
        boolean joins = kernel.functions().orElseThrow().backend().joinsByStackPointer();
        int id = newFunction(hook, found.symbol(), FunctionTable.sendsEnter(hook, joins));
        kernel.defineFunction(id, functions.encode(hook, Decoder.numberOf(schema, hook.probe().kind()), joins));
        CallShape shape = functions.shape(hook, found.symbol(), joins, job.interpretation(hook.meaning()));
        pump.later(decoder -> decoder.define(id, shape));
        return id;
    }

    private int define(Hook hook, Tracepoints.Found found, FunctionTable functions) {
        int id = newFunction(hook, found.symbol(), true);
        kernel.defineFunction(id, functions.encode(hook, Decoder.numberOf(schema, hook.probe().kind()), found.note()));
        CallShape shape = functions.shape(hook, found.note(), job.interpretation(hook.meaning()));
        pump.later(decoder -> decoder.define(id, shape));
        return id;
    }

    private int newFunction(Hook hook, String symbol, boolean sendsEnter) {
        String kind = hook.role().isEvent() ? hook.probe().kind() : KernelSide.FACT;
        return kernel.newFunction(kind, symbol, sendsEnter);
    }

    private void link(MappedFile file, List<Site> sites, List<Site> tracepoints, List<ProbedFunction> rows) {
        int count = sites.size() + tracepoints.size();
        if (count == 0) {
            return;
        }
        UprobeProbes probes = kernel.functions().orElseThrow();
        try {
            if (!sites.isEmpty()) {
                probes.attach(file.opened().toString(), sites);
            }
            if (!tracepoints.isEmpty()) {
                probes.attachTracepoints(file.opened().toString(), tracepoints);
            }
            probed.addAll(rows);
            probedFiles.add(file.identity());
            progress.notice("probing " + count + (count == 1 ? " function" : " functions") + " of " + file.path());
        } catch (BpfException e) {
            rows.forEach(row -> probed.add(row.failed(e.getMessage())));
            progress.notice(e.getMessage());
        }
    }

    private void fail(Hook hook, MappedFile file, String buildId, String symbol, String state, String why) {
        probed.add(ProbedFunction.failed(hook, symbol, file.path(), buildId, state, why));
    }

    /// The footer's `zernel.probes`.
    List<Map<String, Object>> describe(CallCounts counts) {
        boolean joins = kernel.functions().map(probes -> probes.backend().joinsByStackPointer()).orElse(false);
        return probed.stream()
                .map(row -> row.describe(row.isAttached()
                        ? FunctionCounts.of(
                                kernel.counters(row.id()),
                                counts.events(row.id()),
                                counts.unreturnedRows(row.id()),
                                FunctionTable.sendsEnter(row.hook(), joins))
                        : FunctionCounts.NONE))
                .toList();
    }

    /// Why a kind whose library is there could not be attached, if so.
    Optional<String> problem(String kind) {
        return probed.stream()
                .filter(row -> !row.isAttached() && row.hook().probe().kind().equals(kind))
                .map(row -> row.symbol() + " in " + row.library() + ": " + row.why())
                .findFirst();
    }

    /// What keeps the recording from holding all that was asked for.
    List<String> problems() {
        return probed.stream()
                .filter(row -> row.state().equals("failed"))
                .map(row -> "probe on '" + row.symbol() + "' in " + row.library() + ": " + row.why())
                .toList();
    }
}
