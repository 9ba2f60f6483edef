package io.dyber.zernel.record;

import io.dyber.zernel.record.attach.LibrarySelectors;
import io.dyber.zernel.record.builtin.Probe;
import io.dyber.zernel.record.builtin.Probes;
import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.elf.x86.Site;
import io.dyber.zernel.record.option.RecorderException;
import io.dyber.zernel.record.probe.Function;
import io.dyber.zernel.record.probe.FunctionProbe;
import io.dyber.zernel.record.probe.ProbeSpec;
import io.dyber.zernel.record.probe.Symbols;
import io.dyber.zernel.record.probe.Tracepoints;
import io.dyber.zernel.record.probe.UsdtProbe;
import io.dyber.zernel.record.process.Machine;
import io.dyber.zernel.record.process.MappedFile;
import io.dyber.zernel.record.process.MappedFiles;
import io.dyber.zernel.record.process.ProcessFacts;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Where the probes of each kind would go on this machine now. Attaches nothing and needs no privilege, except to
/// look at other users' processes.
public final class ProbeListing {
    /// One function in one library file, or a kind as a whole.
    ///
    /// @param state `kernel` for a kind seen in the kernel, `found`, `off` where probing would be too expensive, `missing`, or `waiting` when no process has
    ///     loaded the library
    /// @param cost `emulated` or `single-stepped`, empty when not found
    /// @param note the kind's summary, or why a function is missing or off
    public record Row(String kind, String state, String library, String symbol, String cost, String note) {}

    private final List<Row> rows = new ArrayList<>();
    private final Map<String, MappedFile> files = new LinkedHashMap<>();

    private final LibrarySelectors libraries;

    private ProbeListing(List<ProbeSpec> specs) {
        Stream<ProbeSpec> builtIn = Probes.all().stream().flatMap(probe -> probe.hooks().stream()).map(FunctionProbe::probe);
        this.libraries =
                new LibrarySelectors(Stream.concat(builtIn, specs.stream()).map(ProbeSpec::library).toList());
    }

    /// Looks at these library files, or without any at what the running processes have loaded.
    ///
    /// @param specs the user's own probes
    public static List<Row> of(List<Path> libraries, List<ProbeSpec> specs) {
        ProbeListing listing = new ProbeListing(specs);
        listing.collect(libraries);
        for (Probe probe : Probes.all()) {
            List<FunctionProbe> hooks = new ArrayList<>(probe.hooks());
            specs.stream().filter(spec -> spec.kind().equals(probe.kind())).map(FunctionProbe::named).forEach(hooks::add);
            listing.add(probe, hooks);
        }
        return List.copyOf(listing.rows);
    }

    private void collect(List<Path> libraries) {
        MappedFiles mapped = new MappedFiles();
        for (Path library : libraries) {
            MappedFile file = MappedFiles.at(library.toAbsolutePath(), false)
                    .orElseThrow(() -> new RecorderException("looking into '" + library + "': no such file", ""));
            files.put(file.identity(), file);
        }
        if (libraries.isEmpty()) {
            for (int pid : ProcessFacts.everyPid()) {
                mapped.of(pid).forEach(file -> files.putIfAbsent(file.identity(), file));
            }
        }
    }

    private void add(Probe probe, List<FunctionProbe> hooks) {
        if (hooks.isEmpty()) {
            rows.add(new Row(probe.kind(), probe.isOptIn() ? "waiting" : "kernel", "", "", "", probe.summary()));
            return;
        }
        int before = rows.size();
        for (MappedFile file : files.values()) {
            Set<String> meant = libraries.of(file);
            List<FunctionProbe> wanted = hooks.stream()
                    .filter(hook -> meant.contains(hook.probe().library()))
                    .toList();
            if (!wanted.isEmpty()) {
                resolve(probe, file, wanted);
            }
        }
        if (rows.size() == before) {
            String library =
                    probe.library().isEmpty() ? hooks.getFirst().probe().library() : probe.library();
            rows.add(new Row(probe.kind(), "waiting", library, "", "", probe.summary()));
        }
    }

    private void resolve(Probe probe, MappedFile file, List<FunctionProbe> wanted) {
        try (ElfFile elf = ElfFile.open(file.opened())) {
            Map<ProbeSpec, FunctionProbe> meant = new LinkedHashMap<>();
            for (FunctionProbe hook : wanted) {
                hook.in(elf).forEach(one -> meant.put(one.probe(), one));
            }
            Symbols symbols = Symbols.resolve(elf, only(Function.class, meant.keySet()));
            Tracepoints tracepoints = Tracepoints.resolve(elf, only(UsdtProbe.class, meant.keySet()));
            symbols.found().forEach(found -> found(probe, file, found, mayBeLeft(meant.get(found.function()))));
            tracepoints.found().forEach(found -> rows.add(new Row(
                    probe.kind(), "found", file.path(), found.symbol(), Site.Cost.EMULATED.label(), probe.summary())));
            boolean anyFound = !symbols.found().isEmpty() || !tracepoints.found().isEmpty();
            if (!anyFound || probe.kind().equals(ProbeSpec.CALL)) {
                symbols.beyondLimit().forEach((function, size) -> missing(
                        probe, file, function.symbol(), "more than " + size + " functions match"));
                symbols.missing().stream()
                        .filter(one -> !isGuess(meant.get(one.function())))
                        .forEach(one -> missing(probe, file, one.symbol(), one.explanation()));
                tracepoints.missing().forEach(one -> missing(probe, file, FunctionProbe.named(one.probe()).symbol(), one.why()));
            }
        } catch (ElfException e) {
            missing(probe, file, "", String.valueOf(e.getMessage()));
        }
    }

    /// Whether it is left alone where its probe would be too expensive.
    private static boolean mayBeLeft(@Nullable FunctionProbe hook) {
        return hook != null && hook.optional() && !hook.vital();
    }

    private static boolean isGuess(@Nullable FunctionProbe hook) {
        return hook != null && hook.isGuess();
    }

    private static <T extends ProbeSpec> List<T> only(Class<T> type, Set<ProbeSpec> probes) {
        return probes.stream().filter(type::isInstance).map(type::cast).toList();
    }

    private void found(Probe probe, MappedFile file, Symbols.Found found, boolean mayBeLeft) {
        Site.Cost cost = found.site().cost();
        boolean off = cost == Site.Cost.SINGLE_STEPPED && mayBeLeft && Machine.isVirtual();
        String note = off ? "a debug trap at each call is too expensive in a virtual machine" : probe.summary();
        rows.add(new Row(probe.kind(), off ? "off" : "found", file.path(), found.symbol(), cost.label(), note));
    }

    private void missing(Probe probe, MappedFile file, String symbol, String why) {
        rows.add(new Row(probe.kind(), "missing", file.path(), symbol, "", why));
    }
}
