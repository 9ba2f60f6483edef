package io.dyber.zernel.record;

import io.dyber.zernel.record.elf.ElfException;
import io.dyber.zernel.record.elf.ElfFile;
import io.dyber.zernel.record.probe.Function;
import io.dyber.zernel.record.probe.Hook;
import io.dyber.zernel.record.probe.LibrarySelector;
import io.dyber.zernel.record.probe.MappedFile;
import io.dyber.zernel.record.probe.MappedFiles;
import io.dyber.zernel.record.probe.Probe;
import io.dyber.zernel.record.probe.ProbeSpec;
import io.dyber.zernel.record.probe.Probes;
import io.dyber.zernel.record.probe.ProcessFacts;
import io.dyber.zernel.record.probe.Symbols;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Where the probes of each kind would go on this machine now. Attaches nothing and needs no privilege, except to
/// look at other users' processes.
public final class ProbeListing {
    /// One function in one library file, or a kind as a whole.
    ///
    /// @param state `kernel` for a kind seen in the kernel, `found`, `missing`, or `waiting` when no process has
    ///     loaded the library
    /// @param cost `emulated` or `single-stepped`, empty when not found
    /// @param note the kind's summary, or why a function is missing
    public record Row(String kind, String state, String library, String symbol, String cost, String note) {}

    private final List<Row> rows = new ArrayList<>();
    private final Map<String, MappedFile> files = new LinkedHashMap<>();

    private ProbeListing() {}

    /// Looks at these library files, or without any at what the running processes have loaded.
    ///
    /// @param specs the user's own probes
    public static List<Row> of(List<Path> libraries, List<ProbeSpec> specs) {
        ProbeListing listing = new ProbeListing();
        listing.collect(libraries);
        for (Probe probe : Probes.all()) {
            List<Function> functions =
                    new ArrayList<>(probe.hooks().stream()
                            .map(Hook::probe)
                            .filter(Function.class::isInstance)
                            .map(Function.class::cast)
                            .toList());
            specs.stream()
                    .filter(spec -> spec.kind().equals(probe.kind()))
                    .filter(Function.class::isInstance)
                    .forEach(spec -> functions.add((Function) spec));
            listing.add(probe, functions);
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

    private void add(Probe probe, List<Function> functions) {
        if (functions.isEmpty()) {
            boolean needsSpec = probe.kind().equals(ProbeSpec.CALL);
            rows.add(new Row(probe.kind(), needsSpec ? "waiting" : "kernel", "", "", "", probe.summary()));
            return;
        }
        int before = rows.size();
        for (MappedFile file : files.values()) {
            List<Function> wanted = functions.stream()
                    .filter(function ->
                            new LibrarySelector(function.library()).matches(file.path(), file.program()))
                    .toList();
            if (!wanted.isEmpty()) {
                resolve(probe, file, wanted);
            }
        }
        if (rows.size() == before) {
            rows.add(new Row(probe.kind(), "waiting", functions.getFirst().library(), "", "", probe.summary()));
        }
    }

    private void resolve(Probe probe, MappedFile file, List<Function> wanted) {
        try (ElfFile elf = ElfFile.open(file.opened())) {
            Symbols symbols = Symbols.resolve(elf, wanted);
            symbols.found().forEach(found -> rows.add(new Row(
                    probe.kind(), "found", file.path(), found.symbol(), found.site().cost().label(), probe.summary())));
            boolean anyFound = !symbols.found().isEmpty();
            symbols.missing().stream()
                    .filter(missing -> !anyFound || probe.kind().equals(ProbeSpec.CALL))
                    .forEach(missing -> rows.add(new Row(
                            probe.kind(), "missing", file.path(), missing.symbol(), "", missing.explanation())));
        } catch (ElfException e) {
            rows.add(new Row(probe.kind(), "missing", file.path(), "", "", String.valueOf(e.getMessage())));
        }
    }
}
